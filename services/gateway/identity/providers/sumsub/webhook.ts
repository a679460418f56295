import { type Static, type TSchema, Type } from 'typebox'
import { asObject } from '#platform/schema'
import { type Progress, type ReadDelivery, referenceOf, type Word } from '../../provider'
import { jsonOf, signedByAny, textOf } from '../api'

/** Returns the schema of an optional field: Sumsub omits unknown fields or sets them to null. */
export const maybe = <S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]))

export const ReviewResult = Type.Object({
  reviewAnswer: maybe(Type.String()),
  reviewRejectType: maybe(Type.String()),
})

/** Progress by event or status (docs.sumsub.com, "User verification webhooks"). */
const turns: ReadonlyMap<string, Progress> = new Map([
  ['applicantCreated', 'unfinished'],
  ['applicantAwaitingUser', 'unfinished'],
  ['applicantPending', 'submitted'],
  ['applicantPrechecked', 'submitted'],
  ['applicantAwaitingService', 'submitted'],
  ['applicantOnHold', 'submitted'],
])

const takenBack = new Set(['applicantReset', 'applicantDeleted', 'applicantDeactivated'])
/** Event of an applicant who was deactivated before: the earlier review stands again, which the event does not contain. */
const reactivated = 'applicantActivated'
const deleted = 'applicantDeleted'

/** Parses a webhook. Unknown types, and those of actions, transactions and video calls, have no effect. */
export function parseSumsub(body: string): ReadDelivery {
  const event = readEvent(body)
  const { type, applicantId, correlationId, externalUserId } = event
  if (!type) return { fault: 'the event has no type' }
  const word = eventWord(event)
  const progress = word === 'none' ? turns.get(type) : undefined
  const time = timeOf(event.createdAtMs) ?? timeOf(event.createdAt)
  const when = event.createdAtMs ?? event.createdAt
  const names = [applicantId, correlationId, type, when, externalUserId, word]
  const undated = {
    eventId: names.map((name) => name ?? '').join(':'),
    subjectRef: externalUserId,
    providerRef: applicantId,
    level: event.levelName,
    word,
    ...(progress && { progress }),
    sandbox: event.sandboxMode,
    ...(word === 'rejected' && isFinal(event.reviewResult) && { isFinal: true as const }),
    ...(type === reactivated && { isToBeAsked: true as const }),
    ...(type === deleted && { isForgotten: true as const }),
  }
  if (!time) return { undated }
  return {
    statement: { ...undated, occurredAtMs: word === 'approved' ? time.fromMs : time.toMs },
  }
}

/**
 * Returns the verdict of an event. A workflow can refuse, but only a completed review approves: the review of
 * its level has already done so.
 */
function eventWord({ type, reviewStatus, reviewResult }: ReturnType<typeof readEvent>): Word {
  if (takenBack.has(type ?? '')) return 'reset'
  if (type !== 'applicantReviewed' && type !== 'applicantWorkflowCompleted') return 'none'
  const word = wordOf(reviewResult)
  if (word === 'approved') return type === 'applicantReviewed' && reviewStatus === 'completed' ? word : 'none'
  return reviewStatus === 'completed' || reviewStatus === null ? word : 'none'
}

/** Reads an event without the reviewers' comments, which may contain the user's name. */
function readEvent(body: string) {
  const event = asObject(jsonOf(body)) ?? {}
  const { reviewAnswer, reviewRejectType } = asObject(event.reviewResult) ?? {}
  return {
    type: textOf(event.type),
    applicantId: textOf(event.applicantId),
    correlationId: textOf(event.correlationId),
    externalUserId: referenceOf(event.externalUserId),
    levelName: textOf(event.levelName),
    sandboxMode: typeof event.sandboxMode === 'boolean' ? event.sandboxMode : null,
    reviewStatus: textOf(event.reviewStatus),
    reviewResult: {
      reviewAnswer: textOf(reviewAnswer),
      reviewRejectType: textOf(reviewRejectType),
    },
    createdAtMs: textOf(event.createdAtMs),
    /** Time of older events, to the second: `2020-02-21 13:23:19+0000`. */
    createdAt: textOf(event.createdAt),
  }
}

export const keptOfSumsub = (body: string): string => JSON.stringify(readEvent(body))

/** Returns the verdict of a review. Callers check the status first, because an unfinished review can be GREEN too. */
export function wordOf(result: Static<typeof ReviewResult> | null | undefined): Word {
  const { reviewAnswer, reviewRejectType } = result ?? {}
  if (reviewAnswer === 'GREEN') return 'approved'
  if (reviewAnswer === 'RED') return reviewRejectType === 'RETRY' ? 'resubmit' : 'rejected'
  return 'none'
}

/** Returns true for a rejection that cannot be retried, whatever the level of the review. */
export const isFinal = (result: Static<typeof ReviewResult> | null | undefined): boolean =>
  result?.reviewAnswer === 'RED' && result.reviewRejectType === 'FINAL'

/**
 * Parses "2026-11-21 07:00:00.123" (UTC without a zone) or ISO 8601. Whole seconds are a range: an approval
 * counts from its start, a verdict against the user from its end.
 */
export function timeOf(text: string | null | undefined): { fromMs: number; toMs: number } | undefined {
  const form = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d{1,3})?\d*(?:Z|([+-]\d\d):?(\d\d))?$/
  const [, day, time, fraction, hours = '+00', minutes = '00'] = form.exec(text ?? '') ?? []
  const fromMs = Date.parse(`${day}T${time}${fraction ?? ''}${hours}:${minutes}`)
  if (Number.isNaN(fromMs)) return undefined
  return { fromMs, toMs: fraction ? fromMs : fromMs + 999 }
}

/** Accepted algorithms, without HMAC_SHA1_HEX, which the provider also offers. */
const algorithms = new Map([
  ['HMAC_SHA256_HEX', 'sha256'],
  ['HMAC_SHA512_HEX', 'sha512'],
] as const)

/** Verifies a signature. It does not cover the time, so replays are handled elsewhere. */
export function verifySumsub(
  body: Uint8Array,
  headers: Headers,
  secrets: readonly string[],
): { ok: true } | { reason: string } {
  const digest = headers.get('x-payload-digest')
  if (!digest) return { reason: 'x-payload-digest is missing' }
  const word = headers.get('x-payload-digest-alg') ?? ''
  const algorithm = (algorithms as ReadonlyMap<string, 'sha256' | 'sha512'>).get(word)
  if (!algorithm) return { reason: 'x-payload-digest-alg is not accepted' }
  // guard: an identity webhook is signed by the identity provider
  if (!signedByAny(secrets, algorithm, [body], digest)) return { reason: 'the digest is wrong' }
  return { ok: true }
}
