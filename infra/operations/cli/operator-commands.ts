import type { Sql } from 'postgres'
import { outcomeOfCommand } from '#infra/operations/audit-log/outcome'
import { latestProposals, listProposals, type Proposal, waitsText } from '#infra/operations/audit-log/proposals'
import type { RecordedOutcome } from '#infra/operations/audit-log/schema.store'
import { type CommandResult, reading, textOf } from '#infra/operations/cli/command'
import { oneLine } from '#infra/operations/text'
import { periodFault, timeFrom } from '#infra/operations/timeline/search'

/** Operator's command with its latest outcome. */
export type ListedCommand = {
  id: string
  /** Time of the latest outcome; without one, that of the first request. */
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

type Criteria = {
  readonly target?: string | undefined
  /** Operator who requested the command, or its outcome. */
  readonly by?: string | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

export const operatorCommands = reading({
  does: 'list operator commands with reason and outcome, newest first; optionally of one target, operator or period, or those that wait for a second operator',
  usage: 'commands [target] [--by <who>] [--from <time>] [--to <time>] | --proposed [--json]',
  takes: [0, 1],
  options: {
    proposed: { type: 'boolean' },
    by: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
  },
  faultIn: ([target], { proposed, by, from, to }) => {
    if (proposed && [target, by, from, to].some((one) => one !== undefined)) return '--proposed stands alone'
    return periodFault({ from: textOf(from), to: textOf(to) }, (field) => `--${field}`, new Date())
  },
  read: async ({ words: [target], options: { proposed, by, from, to } }, { sql }) => {
    if (proposed) return proposedOf(await listProposals(sql))
    const period = { from: timeFrom(String(from)), to: timeFrom(String(to)) }
    return listed(await readOperatorCommands(sql, { target, by: textOf(by), ...period }))
  },
})

export function listed(found: readonly ListedCommand[]): CommandResult {
  const [shown, isComplete] = [found.slice(0, shownMax), found.length <= shownMax]
  const more = isComplete ? [] : [`there are older ones: --to ${shown.at(-1)!.at.toISOString()}`]
  const text = shown.length === 0 ? 'no commands recorded' : [...shown.map(lineOf), ...more].join('\n')
  const ok = isComplete && shown.every(({ outcome, waitsUntil }) => outcome !== null && waitsUntil === null)
  return { text, data: { commands: shown, isComplete }, ok }
}

/** A refused command may be repeated much later, so the first request does not tell when it was done. */
const lastAt = (sql: Sql) => sql`coalesce(o.recorded_at, d.asked_at)`

/** Returns the newest commands that match, up to one more than are shown. */
export const readOperatorCommands = (sql: Sql, { target, by, from, to }: Criteria) => sql<ListedCommand[]>`
  select d.id, ${lastAt(sql)} as at, d.asked_by as by, d.verb, d.target, d.reason, nullif(o.outcome, 'unknown') as outcome, o.said,
    nullif(o.asked_by, d.asked_by) as "doneBy", nullif(o.reason, d.reason) as "doneReason", p.until as "waitsUntil"
  from ops.commands d left join lateral (${outcomeOfCommand(sql)}) o on true
  left join (${latestProposals(sql)}) p on p.command = d.id and p."isOpen"
  where (${target ?? null}::text is null or d.target = ${target ?? null})
    and (${by ?? null}::text is null or d.asked_by = ${by ?? null}
      or exists (select from ops.outcomes where command_id = d.id and asked_by = ${by ?? null}))
    and ${lastAt(sql)} >= coalesce(${from ?? null}::timestamptz, '-infinity')
    and ${lastAt(sql)} <= coalesce(${to ?? null}::timestamptz, 'infinity')
  order by at desc, d.asked_at desc limit ${shownMax + 1}`

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
