import type { Sql } from 'postgres'
import type { AuditedCommand } from '#infra/operations/audit-log/perform'

/**
 * Returns a numbered cause for a command that sets something to what its text names. The command that was done last is the same
 * command again; one that was replaced since is a new command, even with the same text. `about` limits the commands that replace
 * each other to those whose cause ends so.
 */
export async function numberedCause(
  sql: Sql,
  { verb, target }: Pick<AuditedCommand, 'verb' | 'target'>,
  text: string,
  about = '',
): Promise<string> {
  const done = await sql<{ cause: string }[]>`
    select d.cause from ops.commands d join ops.outcomes o on o.command_id = d.id and o.outcome = 'done'
    where d.verb = ${verb} and d.target = ${target} and right(d.cause, length(${about})) = ${about} order by o.id`
  const last = `${done.length}. ${text}`
  return done.at(-1)?.cause === last ? last : `${done.length + 1}. ${text}`
}
