import type { Sql } from 'postgres'
import { withdrawnBy } from '#infra/operations/cli/approve'
import { localCommands } from '#infra/operations/cli/local-commands'
import type { Log } from '#platform/log'

/** Verbs of the commands that `ops` carries out itself, as their operator types them. */
const verbs = localCommands.map(({ subject }) => subject.replace(/^ops\./, '').replaceAll('.', ' '))

type Ended = Record<'id' | 'verb' | 'target' | 'cause' | 'command' | 'by' | 'reason' | 'outcome' | 'said', string>

/**
 * Returns the work of logging the commands that `ops` carries out itself, and the withdrawals of proposals: no service logs them,
 * and a restore from a backup loses their rows. A new process logs those of its last day again, which its container may lack.
 */
export function openCommandLog(sql: Sql, log: Log): () => Promise<void> {
  let logged: ReadonlySet<string> = new Set()
  return async () => {
    const ended = await sql<Ended[]>`
      select o.id::text, d.verb, d.target, d.cause, d.id as command, coalesce(o.asked_by, d.asked_by) as by,
        coalesce(o.reason, d.reason) as reason, o.outcome, o.said
      from ops.outcomes o join ops.commands d on d.id = o.command_id
      where o.recorded_at > now() - interval '1 day'
        and (o.outcome = 'done' and d.verb in ${sql(verbs)} or o.outcome = 'refused' and o.said like ${`${withdrawnBy}%`})
      order by o.id`
    for (const { id, ...one } of ended) if (!logged.has(id)) log.info(one, 'outcome of a command by operator')
    // Ids are not compared in their order, because a lower one may be committed later.
    logged = new Set(ended.map(({ id }) => id))
  }
}
