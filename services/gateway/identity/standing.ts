import type { GetMe } from '#shared/api/account'
import type { AnswerOf } from '#shared/api/route'
import type { IdentityState } from './identity'
import type { Progress } from './provider'

/** What is known of a person's verification; times in the order in which the provider and we saw them. */
export type Known = {
  readonly state: IdentityState | null
  readonly decidedAt: Date | null
  /** The relayer gave up putting the verdict on the chain. */
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
  approvedSoon: says('approved', 'wait', 'You are approved; the chain is being told.'),
  approvedStuck: says(
    'approved',
    'contact support',
    'You are approved, and the chain could not be told: contact support.',
  ),
  inReview: says('in_review', 'wait', 'Your documents are being looked at.'),
  started: says('started', 'verify', 'Finish the verification that you began.'),
  resubmit: says(
    'rejected',
    'verify',
    'Your documents were not accepted: verify again, with other or clearer ones.',
  ),
  rejected: says('rejected', 'contact support', 'Your identity was not accepted: contact support.'),
  reset: says('none', 'verify', 'Your verification was reset: verify your identity again.'),
  none: says('none', 'verify', 'Verify your identity to top up, draw and send.'),
}

/**
 * How a person's verification stands. `verified` is the flag on the chain, which follows the verdict:
 * without any verdict of ours it is somebody else's approval.
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
