import type { Sql } from 'postgres'
import type { TSchema } from 'typebox'
import type { Operator } from '#infra/operations/cli/operator'
import { Unavailable } from '#platform/bus/ask'
import type { CommandOutcome } from '#shared/messages/operator-commands'
import type { Question, RequestOf } from '#shared/messages/topic'
import { refusals } from '#shared/refusals'

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

export type CommandReply = { readonly done: string } | { readonly refused: string }

/** Reply of a service that does not know the outcome yet. No outcome is recorded for it. */
export type Awaited = { readonly awaited: string }

export type Earlier = {
  readonly by: string
  readonly at: Date
  readonly reason: string
}

export type Performed = CommandReply & { readonly id: string; readonly earlier?: Earlier }

/**
 * Asks the service, and records the command before and its outcome after. A command that is done is not sent again.
 * Throws if the response is lost: a repeat sends the same id, which the service recognises.
 */
export async function perform(
  { sql }: Pick<Operator, 'sql'>,
  command: AuditedCommand,
  ask: (id: string) => Promise<CommandReply | Awaited>,
): Promise<Performed> {
  const recorded = await record(sql, command)
  if (recorded.said !== null) {
    const { id, askedBy: by, askedAt: at, reason } = recorded
    return { id, done: recorded.said, earlier: { by, at, reason } }
  }
  const outcome = await ask(recorded.id).catch((cause: unknown) => {
    throw new Error(unansweredText(command, cause), { cause })
  })
  if ('awaited' in outcome) return { id: recorded.id, refused: outcome.awaited }
  await conclude(sql, recorded.id, outcome)
  return { id: recorded.id, ...outcome }
}

const again = 'Run the same command again: it takes effect once and reports the outcome'

const unansweredText = ({ verb, target }: AuditedCommand, error: unknown): string =>
  error instanceof Unavailable
    ? `${verb} ${target}: the service could not be reached, nothing was done. ${again}`
    : `${verb} ${target}: no response, outcome unknown. ${again}`

export type CommandQuestion = Question<TSchema, typeof CommandOutcome>

export async function askOutcome<Q extends CommandQuestion>(
  { ask }: Pick<Operator, 'ask'>,
  question: Q,
  request: RequestOf<Q>,
): Promise<CommandReply> {
  const answer = await ask<CommandQuestion>(question, request)
  return 'refused' in answer ? { refused: refusals[answer.refused].message } : answer.ok
}

type RecordedCommand = { id: string; askedBy: string; askedAt: Date; reason: string; said: string | null }

/** Records the command unless it exists. Returns its first request, with the outcome if it is done. */
async function record(sql: Sql, { verb, target, cause, reason, by }: AuditedCommand): Promise<RecordedCommand> {
  await sql`
    insert into ops.commands (verb, target, cause, reason, asked_by)
    values (${verb}, ${target}, ${cause}, ${reason}, ${by}) on conflict do nothing`
  const [recorded] = await sql<RecordedCommand[]>`
    select d.id, d.asked_by as "askedBy", d.asked_at as "askedAt", d.reason, o.said
    from ops.commands d left join ops.outcomes o on o.command_id = d.id and o.outcome = 'done'
    where d.verb = ${verb} and d.target = ${target} and d.cause = ${cause}`
  return recorded!
}

async function conclude(sql: Sql, id: string, outcome: CommandReply): Promise<void> {
  const [word, said] = 'done' in outcome ? ['done', outcome.done] : ['refused', outcome.refused]
  await sql`
    insert into ops.outcomes (command_id, outcome, said) values (${id}, ${word}, ${said})
    on conflict do nothing`
}
