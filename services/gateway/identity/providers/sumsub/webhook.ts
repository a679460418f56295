import { type Static, type TSchema, Type } from 'typebox'
import { readerOf } from '#shared/schema'
import type { Statement, Word } from '../../provider'
import { jsonOf, signedByAny } from '../http'

/** Sumsub leaves out what it does not know, or writes null: both are the same to us. */
export const maybe = <S extends TSchema>(schema: S) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

export const ReviewResult = Type.Object({
  reviewAnswer: maybe(Type.String()),
  reviewRejectType: maybe(Type.String()),
})

/**
 * The fields we use of Sumsub's user verification webhooks (docs.sumsub.com, "User verification
 * webhooks"). Fields are inconsistently present, so only what every decision needs is required.
 */
const Body = Type.Object({
  type: Type.String(),
  createdAtMs: maybe(Type.String()),
  /** What older events have instead: to the second, as `2020-02-21 13:23:19+0000`. */
  createdAt: maybe(Type.String()),
  applicantId: maybe(Type.String()),
  correlationId: maybe(Type.String()),
  externalUserId: maybe(Type.String()),
  levelName: maybe(Type.String()),
  sandboxMode: maybe(Type.Boolean()),
  reviewStatus: maybe(Type.String()),
  reviewResult: maybe(ReviewResult),
})
const readBody = readerOf(Body)

const takenBack = new Set(['applicantReset', 'applicantDeleted', 'applicantDeactivated'])

/** Reads a webhook body; a fault when its form is not the documented one. */
export function parseSumsub(body: string): { statement: Statement } | { fault: string } {
  const got = readBody(jsonOf(body))
  if ('fault' in got) return got
  const { value } = got
  const createdAt = value.createdAtMs ?? value.createdAt
  const time = timeOf(createdAt)
  if (!time) return { fault: 'createdAtMs is not a time' }
  const names = [value.applicantId, value.correlationId, value.type, createdAt]
  const word = takenBack.has(value.type)
    ? 'reset'
    : value.type === 'applicantReviewed' && value.reviewStatus === 'completed'
      ? wordOf(value.reviewResult)
      : 'none'
  return {
    statement: {
      eventId: names.map((name) => name ?? '').join(':'),
      occurredAtMs: word === 'approved' ? time.fromMs : time.toMs,
      subjectRef: value.externalUserId ?? null,
      providerRef: value.applicantId ?? null,
      level: value.levelName ?? null,
      word,
      sandbox: value.sandboxMode ?? null,
    },
  }
}

/**
 * An unfinished review (`awaitingService`) can carry GREEN as well: hence the callers' own check of
 * the status.
 */
export function wordOf(result: Static<typeof ReviewResult> | null | undefined): Word {
  const { reviewAnswer, reviewRejectType } = result ?? {}
  if (reviewAnswer === 'GREEN') return 'approved'
  if (reviewAnswer === 'RED') return reviewRejectType === 'RETRY' ? 'resubmit' : 'rejected'
  return 'none'
}

/**
 * "2026-11-21 07:00:00.123", in UTC; ISO 8601 is accepted as well. A time to the second is any
 * moment of it: an approval counts from the first, a word against the person to the last.
 */
export function timeOf(
  text: string | null | undefined,
): { fromMs: number; toMs: number } | undefined {
  const form = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d{1,3})?(?:Z|\+0000|\+00:00)?$/
  const [, day, time, fraction] = form.exec(text ?? '') ?? []
  const fromMs = Date.parse(`${day}T${time}${fraction ?? ''}Z`)
  if (Number.isNaN(fromMs)) return undefined
  return { fromMs, toMs: fraction ? fromMs : fromMs + 999 }
}

/** HMAC_SHA1_HEX exists at the provider and is refused here, as is any word not in the table. */
const algorithms = new Map([
  ['HMAC_SHA256_HEX', 'sha256'],
  ['HMAC_SHA512_HEX', 'sha512'],
] as const)

/** Sumsub signs the raw body; the time is not signed, so order and replay are decided elsewhere. */
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
  if (!signedByAny(secrets, algorithm, [body], digest)) return { reason: 'the digest is wrong' }
  return { ok: true }
}
