import type { Sql } from 'postgres'
import type { TSchema } from 'typebox'
import type { Operator } from '#infra/ops/operator'
import { Unavailable } from '#shared/bus/ask'
import type { DeedOutcome } from '#shared/messages/deeds'
import type { Question, RequestOf } from '#shared/messages/topic'
import { refusals } from '#shared/refusals'

/** What an operator asks a service to do. The same verb, target and cause is the same deed. */
export type Deed = {
  /** As it is typed, `dead-letters redrive` say. */
  readonly verb: string
  readonly target: string
  /** Which state of the target it answers: a revision, the time of a death. */
  readonly cause: string
  readonly reason: string
  readonly by: string
}

/** What the owning service said: it did it, or it did not, in words for a person. */
export type Outcome = { readonly done: string } | { readonly refused: string }

/** It was asked for, and what comes of it is not known yet: nothing is written down as its outcome. */
export type Awaited = { readonly awaited: string }

/** Somebody asked for it before. */
export type Earlier = {
  readonly by: string
  readonly at: Date
  readonly reason: string
}

/** What came of a deed; `earlier`: it had been done when it was asked for again. */
export type Performed = Outcome & { readonly id: string; readonly earlier?: Earlier }

/**
 * Has a service do something once: it is written down who asks for what and why, then the service is
 * asked, then what it said is written down. Done before, the service is not asked again. When its
 * answer is lost, this throws, and nobody knows whether it was done: the same deed again asks with the
 * same id, which the service has then seen.
 */
export async function perform(
  { sql }: Pick<Operator, 'sql'>,
  deed: Deed,
  ask: (id: string) => Promise<Outcome | Awaited>,
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

const again =
  'Give the same command again: it is the same deed, done once, and says what came of it'

/** What is known of a deed whose answer did not come, and what to do. */
const unansweredText = ({ verb, target }: Deed, error: unknown): string =>
  error instanceof Unavailable
    ? `${verb} ${target} was not done now, as its service could not be asked. ${again}`
    : `nobody knows whether ${verb} ${target} was done. ${again}`

/** A question that a service answers with what came of a deed. */
export type DeedQuestion = Question<TSchema, typeof DeedOutcome>

/** Asks a service for a deed. One that it refuses by its table is refused in the words of that. */
export async function askOutcome<Q extends DeedQuestion>(
  { ask }: Pick<Operator, 'ask'>,
  question: Q,
  request: RequestOf<Q>,
): Promise<Outcome> {
  const answer = await ask<DeedQuestion>(question, request)
  return 'refused' in answer ? { refused: refusals[answer.refused].message } : answer.ok
}

type Noted = { id: string; askedBy: string; askedAt: Date; reason: string; said: string | null }

/** The deed as it was first asked for, and what was said when it was done. */
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

async function conclude(sql: Sql, id: string, outcome: Outcome): Promise<void> {
  const [word, said] = 'done' in outcome ? ['done', outcome.done] : ['refused', outcome.refused]
  await sql`
    insert into ops.outcomes (deed_id, outcome, said) values (${id}, ${word}, ${said})
    on conflict do nothing`
}
