import { Type } from 'typebox'
import { readerOf } from '#shared/schema'
import type { Statement, Word } from '../../identity-provider.ts'

/**
 * The fields we use of Sumsub's user verification webhooks (docs.sumsub.com, "User verification
 * webhooks"). Fields are inconsistently present, so only what every decision needs is required.
 */
const Body = Type.Object({
  type: Type.String(),
  createdAtMs: Type.String({ says: 'must be a string' }),
  applicantId: Type.Optional(Type.String()),
  correlationId: Type.Optional(Type.String()),
  externalUserId: Type.Optional(Type.String()),
  levelName: Type.Optional(Type.String()),
  sandboxMode: Type.Optional(Type.Boolean()),
  reviewStatus: Type.Optional(Type.String()),
  reviewResult: Type.Optional(
    Type.Object({
      reviewAnswer: Type.Optional(Type.String()),
      reviewRejectType: Type.Optional(Type.String()),
    }),
  ),
})
const read = readerOf(Body)

const takenBack = new Set(['applicantReset', 'applicantDeleted', 'applicantDeactivated'])

/** Reads a webhook body; a fault when its form is not the documented one. */
export function parseSumsub(body: string): { statement: Statement } | { fault: string } {
  const got = read(jsonOf(body))
  if ('fault' in got) return got
  const { value } = got
  const occurredAtMs = timeOf(value.createdAtMs)
  if (occurredAtMs === undefined) return { fault: 'createdAtMs is not a time' }
  const names = [value.applicantId, value.correlationId, value.type, value.createdAtMs]
  const { reviewAnswer, reviewRejectType } = value.reviewResult ?? {}
  return {
    statement: {
      eventId: names.map((name) => name ?? '').join(':'),
      occurredAtMs,
      subjectRef: value.externalUserId ?? null,
      providerRef: value.applicantId ?? null,
      level: value.levelName ?? null,
      word: takenBack.has(value.type)
        ? 'reset'
        : value.type === 'applicantReviewed' && value.reviewStatus === 'completed'
          ? wordOf(reviewAnswer, reviewRejectType)
          : 'none',
      // Absent means that we do not know; only a plain `false` is production.
      sandbox: value.sandboxMode !== false,
    },
  }
}

/**
 * An unfinished review (`awaitingService`) can carry GREEN as well: hence the caller's two checks.
 */
function wordOf(answer: string | undefined, rejectType: string | undefined): Word {
  if (answer === 'GREEN') return 'approved'
  if (answer === 'RED') return rejectType === 'RETRY' ? 'resubmit' : 'rejected'
  return 'none'
}

/** "2026-11-21 07:00:00.123", in UTC; ISO 8601 is accepted as well. */
function timeOf(text: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,3})?)(?:Z|\+0000|\+00:00)?$/.exec(
    text,
  )
  const ms = match ? Date.parse(`${match[1]}T${match[2]}Z`) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
