import { type Static, type TSchema, Type } from 'typebox'
import { readerOf } from '#shared/schema'
import type { Finding, Statement, Word } from '../../identity-provider.ts'
import { jsonOf } from '../../provider-call.ts'

/** Sumsub leaves out what it does not know, or writes null: both are the same to us. */
const maybe = <S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]))

const ReviewResult = Type.Object({
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
 * The fields we use of an applicant (docs.sumsub.com, "Get applicant data by externalUserId"). The
 * rest of the answer is the person's own data, and stays unread.
 */
const Applicant = Type.Object({
  id: maybe(Type.String()),
  externalUserId: maybe(Type.String()),
  /** Deactivated, or deleted: "as if it never existed". */
  deleted: maybe(Type.Boolean()),
  review: maybe(
    Type.Object({
      levelName: maybe(Type.String()),
      attemptId: maybe(Type.String()),
      reviewStatus: maybe(Type.String()),
      reviewResult: maybe(ReviewResult),
      /** When the check began. */
      createDate: maybe(Type.String()),
      /** When it ended, to the second: `2024-02-02 18:31:57+0000`. */
      reviewDate: maybe(Type.String()),
    }),
  ),
})
const readApplicant = readerOf(Applicant)

/** Whose answer is read: `sandbox` is what our own key says, because an applicant does not. */
export type Asked = { readonly wallet: string; readonly level: string; readonly sandbox: boolean }

/** Reads the answer about one applicant; a fault when it is not plainly about this person. */
export function findingOf(answer: unknown, asked: Asked): Finding | { fault: string } {
  const got = readApplicant(answer)
  if ('fault' in got) return got
  const { value } = got
  if (value.externalUserId !== asked.wallet)
    return { fault: 'the applicant is not the one asked for' }
  const review = value.review ?? {}
  const word = standingWord(value, asked.level)
  const known = {
    eventId: [value.id, 'look-up', review.attemptId, review.reviewDate, word].join(':'),
    subjectRef: asked.wallet,
    providerRef: value.id ?? null,
    level: review.levelName ?? null,
    word,
    sandbox: asked.sandbox,
  }
  const ended = timeOf(review.reviewDate)
  if (word === 'none') return { statement: { ...known, occurredAtMs: ended?.fromMs ?? 0 } }
  if (word === 'approved') {
    const began = ended ?? timeOf(review.createDate)
    if (!began) return { fault: 'an approval without a time' }
    return { statement: { ...known, occurredAtMs: began.fromMs } }
  }
  if (word === 'reset' || !ended) return { undated: known }
  return { statement: { ...known, occurredAtMs: ended.toMs } }
}

/**
 * What the applicant's present state means. `init` at our level is what a reset leaves behind; at
 * another level it only says that the person was sent there.
 */
function standingWord({ deleted, review }: Static<typeof Applicant>, level: string): Word {
  if (deleted) return 'reset'
  if (review?.reviewStatus === 'completed') return wordOf(review.reviewResult)
  return review?.reviewStatus === 'init' && review.levelName === level ? 'reset' : 'none'
}

/**
 * An unfinished review (`awaitingService`) can carry GREEN as well: hence the callers' own check of
 * the status.
 */
function wordOf(result: Static<typeof ReviewResult> | null | undefined): Word {
  const { reviewAnswer, reviewRejectType } = result ?? {}
  if (reviewAnswer === 'GREEN') return 'approved'
  if (reviewAnswer === 'RED') return reviewRejectType === 'RETRY' ? 'resubmit' : 'rejected'
  return 'none'
}

/**
 * "2026-11-21 07:00:00.123", in UTC; ISO 8601 is accepted as well. A time to the second is any
 * moment of it: an approval counts from the first, a word against the person to the last.
 */
function timeOf(text: string | null | undefined): { fromMs: number; toMs: number } | undefined {
  const form = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d{1,3})?(?:Z|\+0000|\+00:00)?$/
  const [, day, time, fraction] = form.exec(text ?? '') ?? []
  const fromMs = Date.parse(`${day}T${time}${fraction ?? ''}Z`)
  if (Number.isNaN(fromMs)) return undefined
  return { fromMs, toMs: fraction ? fromMs : fromMs + 999 }
}
