import type { Sql } from 'postgres'
import type { TSchema } from 'typebox'
import type { Operator } from '#infra/operations/cli/operator'
import { Unavailable } from '#platform/bus/ask'
import type { DeedOutcome } from '#shared/messages/operator-commands'
import type { Question, RequestOf } from '#shared/messages/topic'
import { refusals } from '#shared/refusals'

/** The same verb, target and cause is the same command. */
export type Deed = {
  /** As typed, such as `dead-letters redrive`. */
  readonly verb: string
  readonly target: string
  /** State of the target, such as a revision or the time of a failure. */
  readonly cause: string
  readonly reason: string
  readonly by: string
}

export type CommandOutcome = { readonly done: string } | { readonly refused: string }

/** The outcome is not known yet, so none is recorded. */
export type Awaited = { readonly awaited: string }

export type Earlier = {
  readonly by: string
  readonly at: Date
  readonly reason: string
}

export type Performed = CommandOutcome & { readonly id: string; readonly earlier?: Earlier }

/**
 * Records the request and the response. A command that is done is not sent again. Throws if the
 * response is lost: a repeat sends the same id, which the service recognises.
 */
export async function perform(
  { sql }: Pick<Operator, 'sql'>,
  deed: Deed,
  ask: (id: string) => Promise<CommandOutcome | Awaited>,
): Promise<Performed> {
  const noted = await note(sql, deed)
  if (noted.said !== null) {
    const { id, askedBy: by, askedAt: at, reason } = noted
    return { id, done: noted.said, earlier: { by, at, reason } }
  }
  const outcome = await ask(noted.id).catch((cause: unknown) => {
    throw new Error(unansweredText(deed, cause), { cause })
  })
  if ('awaited' in outcome) return { id: noted.id, refused: outcome.awaited }
  await conclude(sql, noted.id, outcome)
  return { id: noted.id, ...outcome }
}

const again = 'Run the same command again: it takes effect once and reports the outcome'

const unansweredText = ({ verb, target }: Deed, error: unknown): string =>
  error instanceof Unavailable
    ? `${verb} ${target}: the service could not be reached, nothing was done. ${again}`
    : `${verb} ${target}: no response, outcome unknown. ${again}`

export type DeedQuestion = Question<TSchema, typeof DeedOutcome>

export async function askOutcome<Q extends DeedQuestion>(
  { ask }: Pick<Operator, 'ask'>,
  question: Q,
  request: RequestOf<Q>,
): Promise<CommandOutcome> {
  const answer = await ask<DeedQuestion>(question, request)
  return 'refused' in answer ? { refused: refusals[answer.refused].message } : answer.ok
}

type Noted = { id: string; askedBy: string; askedAt: Date; reason: string; said: string | null }

/** Returns the first request, and its outcome if done. */
async function note(sql: Sql, { verb, target, cause, reason, by }: Deed): Promise<Noted> {
  await sql`
    insert into ops.deeds (verb, target, cause, reason, asked_by)
    values (${verb}, ${target}, ${cause}, ${reason}, ${by}) on conflict do nothing`
  const [noted] = await sql<Noted[]>`
    select d.id, d.asked_by as "askedBy", d.asked_at as "askedAt", d.reason, o.said
    from ops.deeds d left join ops.outcomes o on o.deed_id = d.id and o.outcome = 'done'
    where d.verb = ${verb} and d.target = ${target} and d.cause = ${cause}`
  return noted!
}

async function conclude(sql: Sql, id: string, outcome: CommandOutcome): Promise<void> {
  const [word, said] = 'done' in outcome ? ['done', outcome.done] : ['refused', outcome.refused]
  await sql`
    insert into ops.outcomes (deed_id, outcome, said) values (${id}, ${word}, ${said})
    on conflict do nothing`
}
