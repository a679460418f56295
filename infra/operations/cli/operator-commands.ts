import type { Sql } from 'postgres'
import { reading } from '#infra/operations/cli/command'

/** Operator's command with its latest outcome. */
export type ListedCommand = {
  at: Date
  by: string
  verb: string
  target: string
  reason: string
  outcome: 'done' | 'refused' | null
  said: string | null
}

const shownMax = 50

export const operatorCommands = reading({
  does: 'list operator commands with reason and outcome, newest first; optionally of one target',
  usage: 'commands [target] [--json]',
  takes: [0, 1],
  read: async ({ words: [target] }, { sql }) => {
    const found = await readOperatorCommands(sql, target)
    const text = found.length === 0 ? 'no commands recorded' : found.map(lineOf).join('\n')
    return { text, data: { commands: found }, ok: found.every(({ outcome }) => outcome !== null) }
  },
})

export const readOperatorCommands = (sql: Sql, target?: string) => sql<ListedCommand[]>`
  select d.asked_at as at, d.asked_by as by, d.verb, d.target, d.reason, o.outcome, o.said
  from ops.commands d left join lateral (
    select outcome, said from ops.outcomes where command_id = d.id order by id desc limit 1
  ) o on true
  where ${target ?? null}::text is null or d.target = ${target ?? null}
  order by d.asked_at desc limit ${shownMax}`

const lineOf = ({ at, by, verb, target, reason, outcome, said }: ListedCommand): string =>
  `${at.toISOString()}  ${by}  ${verb} ${target}  (${reason})  ${outcome ? `${outcome}: ${said}` : 'outcome unknown: run the same command again'}`
