import type { GetMe } from '#shared/api/account'
import type { RouteAnswer } from '#shared/api/route'
import type { TextRef } from '#shared/language/catalogue'
import type { IdentityState } from './identity'
import type { Progress } from './provider'

export type IdentityFacts = {
  readonly state: IdentityState | null
  readonly decidedAt: Date | null
  readonly flagFailedAt: Date | null
  readonly linkedAt: Date | null
  readonly progress: Progress | null
  readonly progressedAt: Date | null
}

type Verification = RouteAnswer<typeof GetMe>['verification']

const answers = {
  approved: ['approved', null],
  approved_soon: ['approved', 'wait'],
  approved_stuck: ['approved', 'contact support'],
  in_review: ['in_review', 'wait'],
  started: ['started', 'verify'],
  resubmit: ['rejected', 'verify'],
  rejected: ['rejected', 'contact support'],
  duplicate: ['rejected', 'contact support'],
  withdrawn: ['rejected', 'contact support'],
  reset: ['none', 'verify'],
  none: ['none', 'verify'],
} as const satisfies Record<string, [Verification['status'], Verification['nextAction']]>
type VerificationAnswer = keyof typeof answers

/**
 * Returns the verification as users see it. `verified` is the flag on the chain, which follows the verdict;
 * without a verdict, another party set it.
 */
export function verificationOf(known: IdentityFacts | null, verified: boolean) {
  const standing = standingOf(known, verified)
  const [status, nextAction] = answers[standing]
  const text: TextRef = { code: `verification.${standing}` }
  return { status, nextAction, text }
}

function standingOf(known: IdentityFacts | null, verified: boolean): VerificationAnswer {
  const state = known?.state ?? null
  if (state === 'verified') {
    if (verified) return 'approved'
    return known?.flagFailedAt ? 'approved_stuck' : 'approved_soon'
  }
  if (state === null && verified) return 'approved'
  const isNewer = (at: Date | null | undefined) =>
    at !== null && at !== undefined && at.getTime() > (known?.decidedAt?.getTime() ?? 0)
  const progressed = isNewer(known?.progressedAt)
  if (progressed && known?.progress === 'submitted') return 'in_review'
  if (state === 'rejected') return 'rejected'
  if (state === 'duplicate' || state === 'withdrawn') return state
  if (progressed || isNewer(known?.linkedAt)) return 'started'
  if (state === 'resubmit') return 'resubmit'
  return state === 'reset' ? 'reset' : 'none'
}
