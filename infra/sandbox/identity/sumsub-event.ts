import { randomIds } from '../random'
import type { Applicant } from '../records'
import { personal } from './personal'
import type { Verdict } from './verdict'

type ReviewFields = {
  readonly type: string
  readonly reviewStatus: string
  readonly reviewResult?: Record<string, unknown>
}

/** Fields of a result without reasons. The real provider returns null for them. */
const noReasons = { reviewRejectType: null, rejectLabels: null }
const withoutEnvironment = new Set(['applicantReset', 'applicantDeleted'])

const words: Record<Verdict, ReviewFields> = {
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
  activated: { type: 'applicantActivated', reviewStatus: 'completed' },
  deleted: { type: 'applicantDeleted', reviewStatus: 'completed' },
  pending: { type: 'applicantPending', reviewStatus: 'pending' },
  // A green result while another check is running is not an approval.
  awaiting_service: {
    type: 'applicantAwaitingService',
    reviewStatus: 'awaitingService',
    reviewResult: { reviewAnswer: 'GREEN' },
  },
}

export function sumsubEvent(
  applicant: Applicant,
  verdict: Verdict,
  about: { atMs: number; levelName: string; sandboxMode: boolean },
): { event: string; body: string } {
  const { type, reviewStatus, reviewResult } = words[verdict]
  const body = {
    applicantId: applicant.providerRef,
    inspectionId: randomIds.hex(12),
    applicantType: 'individual',
    correlationId: randomIds.hex(16),
    levelName: about.levelName,
    ...(withoutEnvironment.has(type) ? {} : { sandboxMode: about.sandboxMode }),
    externalUserId: applicant.wallet,
    type,
    reviewResult: reviewResult ? { ...noReasons, ...reviewResult } : null,
    reviewStatus,
    createdAt: sumsubSecond(new Date(about.atMs).toISOString()),
    createdAtMs: sumsubTime(about.atMs),
    clientId: 'sandbox',
  }
  return { event: type, body: JSON.stringify(body) }
}

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
    inspectionId: randomIds.hex(12),
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
      reviewId: randomIds.hex(4),
      attemptId: randomIds.hex(4),
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

/** Returns the applicants of the same person, with the personal data that matched. */
export const duplicatesBody = (found: readonly Applicant[]): Record<string, unknown> => {
  const answer = found.length > 0 ? 'RED' : 'GREEN'
  return {
    answer,
    checkType: 'SIMILAR_SEARCH',
    id: randomIds.hex(12),
    similarSearchInfo: {
      answer,
      duplicateApplicantHits: found.map(({ providerRef }) => ({
        applicantId: providerRef,
        matchedFields: [personal.lastName],
        types: ['byFace', 'byName'],
      })),
    },
  }
}

/** Formats an applicant's time, which has a precision of one second. */
const sumsubSecond = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 19)}+0000`

/** Formats `createdAtMs`, which at Sumsub is a string in UTC, not a number. */
const sumsubTime = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').replace('Z', '')
