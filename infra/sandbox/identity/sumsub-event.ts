import { randomHex } from '../ids'
import type { Applicant } from '../records'
import { personal } from './personal'
import type { Verdict } from './verdict'

type Words = {
  readonly type: string
  readonly reviewStatus: string
  readonly reviewResult?: Record<string, unknown>
}

/** As the real one: of a result that has none of these, they are null. */
const noReasons = { reviewRejectType: null, rejectLabels: null }
/** Kinds that do not say where the verdict was given that they take back. */
const withoutEnvironment = new Set(['applicantReset', 'applicantDeleted'])

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
  deactivated: { type: 'applicantDeactivated', reviewStatus: 'completed' },
  deleted: { type: 'applicantDeleted', reviewStatus: 'completed' },
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
    ...(withoutEnvironment.has(type) ? {} : { sandboxMode: about.sandboxMode }),
    externalUserId: applicant.wallet,
    type,
    reviewResult: reviewResult ? { ...noReasons, ...reviewResult } : null,
    reviewStatus,
    createdAtMs: sumsubTime(about.atMs),
    clientId: 'sandbox',
  }
  return { event: type, body: JSON.stringify(body) }
}

/** The applicant as a look-up shows it; undefined when nobody is there any more. */
export function applicantBody(
  { providerRef, wallet, standing, updatedAt }: Applicant,
  level: string,
): Record<string, unknown> | undefined {
  if (standing?.verdict === 'deleted') return undefined
  const verdict = (standing?.verdict ?? null) as Verdict | null
  const { reviewStatus = 'init', reviewResult } = verdict ? words[verdict] : {}
  const at = sumsubSecond(standing?.at ?? updatedAt)
  return {
    id: providerRef,
    createdAt: at.replace('+0000', ''),
    clientId: 'sandbox',
    inspectionId: randomHex(12),
    externalUserId: wallet,
    info: {
      firstName: personal.firstName,
      lastName: personal.lastName,
      dob: personal.birthdate,
      idDocs: [{ idDocType: 'PASSPORT', country: 'IDN', number: personal.documentNumber }],
    },
    fixedInfo: null,
    ...(verdict === 'deactivated' && { deleted: true }),
    review: {
      reviewId: randomHex(4),
      attemptId: randomHex(4),
      attemptCnt: verdict === null ? 0 : 1,
      levelName: standing?.level ?? level,
      createDate: at,
      reviewStatus,
      ...(reviewStatus === 'completed' && { reviewDate: at }),
      ...(reviewResult && { reviewResult }),
    },
    type: 'individual',
  }
}

/** `yyyy-MM-dd HH:mm:ss+0000`: what an applicant carries is known to the second alone. */
const sumsubSecond = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 19)}+0000`

/** `yyyy-MM-dd HH:mm:ss.fff` in UTC: Sumsub's createdAtMs is a text, not a number. */
export const sumsubTime = (ms: number): string =>
  new Date(ms).toISOString().replace('T', ' ').replace('Z', '')
