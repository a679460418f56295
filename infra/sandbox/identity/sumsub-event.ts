import { randomHex } from '../ids.ts'
import type { Applicant } from '../records.ts'
import type { Verdict } from './verdict.ts'

type Words = {
  readonly type: string
  readonly reviewStatus: string
  readonly reviewResult?: Record<string, unknown>
}

const words: Record<Verdict, Words> = {
  approved: {
    type: 'applicantReviewed',
    reviewStatus: 'completed',
    reviewResult: { reviewAnswer: 'GREEN' },
  },
  rejected: {
    type: 'applicantReviewed',
    reviewStatus: 'completed',
    reviewResult: {
      moderationComment: 'We could not verify your profile.',
      clientComment: 'Forged document, sandbox',
      reviewAnswer: 'RED',
      rejectLabels: ['FORGERY'],
      reviewRejectType: 'FINAL',
    },
  },
  retry: {
    type: 'applicantReviewed',
    reviewStatus: 'completed',
    reviewResult: {
      moderationComment: 'Please upload a clearer picture of your document.',
      clientComment: 'Blurred picture, sandbox',
      reviewAnswer: 'RED',
      rejectLabels: ['UNSATISFACTORY_PHOTOS'],
      reviewRejectType: 'RETRY',
    },
  },
  reset: { type: 'applicantReset', reviewStatus: 'init' },
  pending: { type: 'applicantPending', reviewStatus: 'pending' },
  // Green while another service is still asked: not an approval.
  awaiting_service: {
    type: 'applicantAwaitingService',
    reviewStatus: 'awaitingService',
    reviewResult: { reviewAnswer: 'GREEN' },
  },
}

/** The event Sumsub sends for a verdict, with the body as it will be signed. */
export function sumsubEvent(
  applicant: Applicant,
  verdict: Verdict,
  about: { atMs: number; levelName: string; sandboxMode: boolean },
): { event: string; body: string } {
  const { type, reviewStatus, reviewResult } = words[verdict]
  const body = {
    applicantId: applicant.providerRef,
    inspectionId: randomHex(12),
    applicantType: 'individual',
    correlationId: randomHex(16),
    levelName: about.levelName,
    sandboxMode: about.sandboxMode,
    externalUserId: applicant.wallet,
    type,
    ...(reviewResult && { reviewResult }),
    reviewStatus,
    createdAtMs: sumsubTime(about.atMs),
    clientId: 'sandbox',
  }
  return { event: type, body: JSON.stringify(body) }
}

/** `yyyy-MM-dd HH:mm:ss.fff` in UTC: Sumsub's createdAtMs is a text, not a number. */
export const sumsubTime = (ms: number): string =>
  new Date(ms).toISOString().replace('T', ' ').replace('Z', '')
