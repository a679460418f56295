import type { Sql } from 'postgres'
import { latestProposals, listProposals, type Proposal, waitsText } from '#infra/operations/audit-log/proposals'
import type { RecordedOutcome } from '#infra/operations/audit-log/schema.store'
import { reading } from '#infra/operations/cli/command'
import { oneLine } from '#infra/operations/text'

/** Operator's command with its latest outcome. */
export type ListedCommand = {
  id: string
  at: Date
  by: string
  verb: string
  target: string
  reason: string
  outcome: Exclude<RecordedOutcome, 'unknown'> | null
  said: string | null
  /** Operator who asked for this outcome, and why, unless that is the first one. */
  doneBy: string | null
  doneReason: string | null
  /** End of the proposal that waits for a second operator. */
  waitsUntil: Date | null
}

const shownMax = 50

export const operatorCommands = reading({
  does: 'list operator commands with reason and outcome, newest first; optionally of one target, or those that wait for a second operator',
  usage: 'commands [target | --proposed] [--json]',
  takes: [0, 1],
  options: { proposed: { type: 'boolean' } },
  read: async ({ words: [target], options }, { sql }) => {
    if (options.proposed) return proposedOf(await listProposals(sql))
    const found = await readOperatorCommands(sql, target)
    const text = found.length === 0 ? 'no commands recorded' : found.map(lineOf).join('\n')
    return { text, data: { commands: found }, ok: found.every(({ outcome }) => outcome !== null) }
  },
})

export const readOperatorCommands = (sql: Sql, target?: string) => sql<ListedCommand[]>`
  select d.id, d.asked_at as at, d.asked_by as by, d.verb, d.target, d.reason, nullif(o.outcome, 'unknown') as outcome, o.said,
    nullif(o.asked_by, d.asked_by) as "doneBy", nullif(o.reason, d.reason) as "doneReason", p.until as "waitsUntil"
  from ops.commands d left join lateral (
    select outcome, said, asked_by, reason from ops.outcomes where command_id = d.id order by id desc limit 1
  ) o on true
  left join (${latestProposals(sql)}) p on p.command = d.id and p."isOpen"
  where ${target ?? null}::text is null or d.target = ${target ?? null}
  order by d.asked_at desc limit ${shownMax}`

const lineOf = ({ at, by, verb, target, reason, ...end }: ListedCommand): string =>
  oneLine(`${at.toISOString()}  ${by}  ${verb} ${target}  (${reason})  ${endOf(end)}`)

function endOf({
  id,
  outcome,
  said,
  doneBy,
  doneReason,
  waitsUntil,
}: Pick<ListedCommand, 'id' | 'outcome' | 'said' | 'doneBy' | 'doneReason' | 'waitsUntil'>): string {
  if (waitsUntil) return `waits for a second operator until ${waitsUntil.toISOString()}: bun run ops approve ${id}`
  // A withdrawal says itself by whom.
  const isOther = outcome === 'done' && (doneBy !== null || doneReason !== null)
  const other = isOther ? ` (asked again${doneBy ? ` by ${doneBy}` : ''}${doneReason ? `: ${doneReason}` : ''})` : ''
  return outcome ? `${outcome}: ${said}${other}` : 'outcome unknown: run the same command again'
}

const proposedOf = (proposals: readonly Proposal[]) => ({
  text:
    proposals
      .map((one) =>
        oneLine(`${one.proposedAt.toISOString()}  ${one.verb} ${one.target}  (${one.reason})  ${waitsText(one)}`),
      )
      .join('\n') || 'no command waits for a second operator',
  data: { proposed: proposals },
  ok: proposals.length === 0,
})
