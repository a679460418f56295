import type { GetMe } from '#shared/api/account'
import type { AnswerOf } from '#shared/api/route'
import type { IdentityState } from './identity'
import type { Progress } from './provider'

/** A user's verification as the provider and we recorded it. */
export type Known = {
  readonly state: IdentityState | null
  readonly decidedAt: Date | null
  /** When the relayer gave up setting the flag on the chain. */
  readonly failedAt: Date | null
  readonly linkedAt: Date | null
  readonly progress: Progress | null
  readonly progressedAt: Date | null
}

export type Verification = AnswerOf<typeof GetMe>['verification']

const says = (
  status: Verification['status'],
  nextAction: Verification['nextAction'],
  sentence: string,
): Verification => ({ status, nextAction, sentence })

const answers = {
  approved: says('approved', null, 'Your identity is verified.'),
  approvedSoon: says(
    'approved',
    'wait',
    'Your identity is approved. Your account will be active in a moment.',
  ),
  approvedStuck: says(
    'approved',
    'contact support',
    'Your identity is approved, but your account could not be activated. Contact support.',
  ),
  inReview: says('in_review', 'wait', 'Your documents are being reviewed.'),
  started: says('started', 'verify', 'Finish your identity verification.'),
  resubmit: says(
    'rejected',
    'verify',
    'Your documents were not accepted. Verify again with clearer or different documents.',
  ),
  rejected: says(
    'rejected',
    'contact support',
    'Your identity could not be verified. Contact support.',
  ),
  reset: says('none', 'verify', 'Your verification was reset. Verify your identity again.'),
  none: says('none', 'verify', 'Verify your identity to top up, draw and send.'),
}

/**
 * Returns a user's verification status. `verified` is the flag on the chain, which follows the verdict;
 * without a verdict of ours, another party set it.
 */
export function verificationOf(known: Known | null, verified: boolean): Verification {
  const state = known?.state ?? null
  if (state === 'verified') {
    if (verified) return answers.approved
    return known?.failedAt ? answers.approvedStuck : answers.approvedSoon
  }
  if (state === null && verified) return answers.approved
  const isNewer = (at: Date | null | undefined) =>
    at !== null && at !== undefined && at.getTime() > (known?.decidedAt?.getTime() ?? 0)
  const progressed = isNewer(known?.progressedAt)
  if (progressed && known?.progress === 'submitted') return answers.inReview
  if (state === 'rejected') return answers.rejected
  if (progressed || isNewer(known?.linkedAt)) return answers.started
  if (state === 'resubmit') return answers.resubmit
  return state === 'reset' ? answers.reset : answers.none
}
