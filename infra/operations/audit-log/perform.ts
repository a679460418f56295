import type { Sql } from 'postgres'
import type { TSchema } from 'typebox'
import { findProposal, waitsText } from '#infra/operations/audit-log/proposals'
import type { RecordedOutcome } from '#infra/operations/audit-log/schema.store'
import {
  type CommandReply,
  changedSince,
  Proposed,
  type SigningOperator,
  signedOutcome,
} from '#infra/operations/audit-log/signed-outcome'
import type { Operator } from '#infra/operations/cli/operator'
import { Unavailable } from '#platform/bus/ask'
import { refusals } from '#shared/declared-refusals'
import type { CommandOutcome } from '#shared/messages/operator-commands'
import type { Question, RequestOf } from '#shared/messages/topic'

/** An operator's command. Two commands with the same verb, target and cause are the same command. */
export type AuditedCommand = {
  /** The verb as the operator typed it, such as `dead-letters redrive`. */
  readonly verb: string
  readonly target: string
  /** State of the target that the command reacts to, such as a revision or the time of a failure. */
  readonly cause: string
  readonly reason: string
  readonly by: string
}

/** Reply of a command whose outcome is not known yet, or that waits for a second operator. No outcome is recorded for it. */
export type Awaited = { readonly awaited: string }

export type Earlier = {
  readonly by: string
  readonly at: Date
  readonly reason: string
}

export type Performed = (CommandReply | Awaited) & { readonly id: string; readonly earlier?: Earlier }

/**
 * Asks the service, and records the command before and its outcome after. A command that is done is not sent again.
 * Throws if the response is lost: a repeat sends the same id, which the service recognises. Until a response arrives the
 * audit log has the outcome as unknown, also if an earlier request was refused.
 */
export async function perform(
  { sql, signing }: Pick<Operator, 'sql'> & SigningOperator,
  command: AuditedCommand,
  ask: (id: string) => Promise<CommandReply | Awaited>,
): Promise<Performed> {
  const approving = signing?.approving
  const recorded = approving ? await find(sql, command) : await record(sql, command)
  if (!recorded || (approving && recorded.id !== approving.command))
    return { id: approving!.command, refused: changedSince }
  if (recorded.said !== null) {
    const { id, askedBy: by, askedAt: at, reason } = recorded
    return { id, done: recorded.said, earlier: { by, at, reason } }
  }
  const proposal = signing && !approving ? await findProposal(sql, recorded.id) : undefined
  if (proposal?.isOpen) return { id: recorded.id, awaited: waitsText(proposal) }
  // The first request is unknown without a row of its own.
  const request = recorded.isNew ? null : await note(sql, recorded.id, command, 'unknown', 'no response')
  const outcome = await ask(recorded.id).catch(async (cause: unknown): Promise<Awaited> => {
    if (cause instanceof Proposed) {
      await noteUnsent(sql, recorded, command, { request, said: 'another operator had to approve it' })
      return { awaited: cause.message }
    }
    const isAway = cause instanceof Unavailable
    const said = 'the service could not be reached, nothing was done'
    const isUnsent = isAway && (await noteUnsent(sql, recorded, command, { request, said }))
    if (!isAway) await noteLost(sql, recorded.id, command)
    throw new Error(unansweredText(command, cause, isUnsent), { cause })
  })
  if ('awaited' in outcome) return { id: recorded.id, ...outcome }
  const reply =
    approving && 'done' in outcome ? { done: `${outcome.done}; approved by ${signing.signer.name}` } : outcome
  await conclude(sql, recorded.id, reply, command)
  return { id: recorded.id, ...reply }
}

const again = 'Run the same command again: it takes effect once and reports the outcome'

function unansweredText({ verb, target }: AuditedCommand, error: unknown, isUnsent: boolean): string {
  if (!(error instanceof Unavailable)) return `${verb} ${target}: no response, outcome unknown. ${again}`
  const effect = isUnsent ? 'nothing was done' : 'another request may have taken effect'
  return `${verb} ${target}: the service could not be reached, ${effect}. ${again}`
}

export type CommandQuestion = Question<TSchema, typeof CommandOutcome>

/** Sends a command to its service, with the signatures that it needs. Throws `Proposed` if a second operator must approve it. */
export const askOutcome = <Q extends CommandQuestion>(
  operator: Pick<Operator, 'ask'> & SigningOperator,
  question: Q,
  request: RequestOf<Q>,
): Promise<CommandReply> =>
  signedOutcome(operator, question.subject, request as { command: string }, async (signed) => {
    const answer = await operator.ask<CommandQuestion>(question, signed)
    return 'refused' in answer ? { refused: refusals[answer.refused].text.en } : answer.ok
  })

type RecordedCommand = {
  id: string
  askedBy: string
  askedAt: Date
  reason: string
  said: string | null
  /** True if it was never sent before. */
  isNew: boolean
}

/** Records the command unless it exists. Returns its first request, with the outcome if it is done. */
async function record(sql: Sql, command: AuditedCommand): Promise<RecordedCommand> {
  const { verb, target, cause, reason, by } = command
  const inserted = await sql`
    insert into ops.commands (verb, target, cause, reason, asked_by)
    values (${verb}, ${target}, ${cause}, ${reason}, ${by}) on conflict do nothing returning id`
  return { ...(await find(sql, command))!, isNew: inserted.length > 0 }
}

async function find(sql: Sql, { verb, target, cause }: AuditedCommand): Promise<RecordedCommand | undefined> {
  const [recorded] = await sql<RecordedCommand[]>`
    select d.id, coalesce(o.asked_by, d.asked_by) as "askedBy", coalesce(o.recorded_at, d.asked_at) as "askedAt",
      coalesce(o.reason, d.reason) as reason, o.said, false as "isNew"
    from ops.commands d left join ops.outcomes o on o.command_id = d.id and o.outcome = 'done'
    where d.verb = ${verb} and d.target = ${target} and d.cause = ${cause}`
  return recorded
}

/** Records an outcome of a command, with the operator who asked for it: another one may have asked first, and been refused. */
export async function conclude(
  sql: Sql,
  id: string,
  outcome: CommandReply,
  operator: Pick<AuditedCommand, 'by' | 'reason'>,
): Promise<void> {
  const [word, said] = 'done' in outcome ? (['done', outcome.done] as const) : (['refused', outcome.refused] as const)
  await note(sql, id, operator, word, said)
}

/** Records an outcome. Returns its id, or null if the command is done already. */
async function note(
  sql: Sql,
  id: string,
  { by, reason }: Pick<AuditedCommand, 'by' | 'reason'>,
  word: RecordedOutcome,
  said: string,
): Promise<string | null> {
  const [noted] = await sql<{ id: string }[]>`
    insert into ops.outcomes (command_id, outcome, said, asked_by, reason) values (${id}, ${word}, ${said}, ${by}, ${reason})
    on conflict do nothing returning id::text`
  return noted?.id ?? null
}

/**
 * Records that nothing was done, and returns true, unless another request of the command may have taken effect: an earlier one,
 * or one that another operator sent since. `request` is the row of this one.
 */
async function noteUnsent(
  sql: Sql,
  { id, isNew }: Pick<RecordedCommand, 'id' | 'isNew'>,
  { by, reason }: Pick<AuditedCommand, 'by' | 'reason'>,
  { request, said }: { request: string | null; said: string },
): Promise<boolean> {
  const noted = await sql`
    insert into ops.outcomes (command_id, outcome, said, asked_by, reason)
    select ${id}, 'unsent', ${said}, ${by}, ${reason}
    where coalesce((
      select outcome from ops.outcomes where command_id = ${id} and id is distinct from ${request}::bigint
      order by id desc limit 1), ${isNew ? 'unsent' : 'unknown'}) in ('refused', 'unsent')
    returning id`
  return noted.length > 0
}

/** Records a lost response again if the outcome of another request was recorded since this one was sent. */
const noteLost = (sql: Sql, id: string, { by, reason }: Pick<AuditedCommand, 'by' | 'reason'>) => sql`
  insert into ops.outcomes (command_id, outcome, said, asked_by, reason)
  select ${id}, 'unknown', 'no response', ${by}, ${reason}
  where (select outcome from ops.outcomes where command_id = ${id} order by id desc limit 1) in ('refused', 'unsent')`
