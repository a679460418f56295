import type { HoldPhase, Stance } from '../stance'

/** What the chain and the row say about a hold. */
export type HoldFacts = {
  readonly state: 'none' | 'held' | 'released' | 'revoked'
  /** Until its end by the chain's clock; negative after it. */
  readonly leftMs: number
  /** The relayer has reported the order that began it. */
  readonly isReported: boolean
  /** A revocation has been ordered: until it is final, the hold must not end. */
  readonly isRevoking: boolean
  /** The last check within the margin found nothing on its way back. */
  readonly isCleared: boolean
  readonly isFirstLook: boolean
  /** A refund or dispute of its money is known, or part of it has gone back. */
  readonly isInDoubt: boolean
}

export type HoldTerms = {
  /** Time before the end of a hold within which it is extended unless nothing is on its way back. */
  readonly marginMs: number
  /** Time before the end of a hold within which it is extended if it is known to be in doubt. */
  readonly keepMs: number
  readonly recheckMs: number
  readonly holdRecheckMs: number
}

/** `await`: the order has not begun it yet. `reportMissing`: it should be on the chain. */
type HoldPlan =
  | { readonly act: 'nothing' | 'await' | 'reportMissing' | 'mature' }
  | { readonly phase: HoldPhase; readonly mayAsk: boolean; readonly deadlineMs: number }

/** Time allowed for reading charge, refunds and list, in ms; equal to the timeout of the provider's client. */
const askMaxMs = 6_000
/** Longest extension by one call of the contract, in ms. */
const extensionMaxMs = 3_600_000
/**
 * Returns `keepMs`: half an extension, because the contract extends a hold from now on by its own length, and by an hour at
 * most. So a hold in doubt always ends half an extension later at least, whatever is down until then.
 */
export const keepMsOf = (holdMs: number, marginMs: number): number =>
  Math.max(marginMs, Math.min(holdMs, extensionMaxMs) / 2)
/** Time after the end of a hold at which it is checked again, in ms: the chain has released it by then. */
const afterEndMs = 1_500

/** Decides before the provider is asked. */
export function planHold(facts: HoldFacts, { marginMs, keepMs }: Pick<HoldTerms, 'marginMs' | 'keepMs'>): HoldPlan {
  const { state, leftMs, isReported, isRevoking, isCleared, isFirstLook, isInDoubt } = facts
  if (state === 'revoked') return { act: 'nothing' }
  if (state === 'none') return { act: isReported ? 'reportMissing' : 'await' }
  const mayAsk = !isRevoking
  if (state === 'released') {
    if (isCleared && !isRevoking) return { act: 'mature' }
    return { phase: 'ended', mayAsk, deadlineMs: askMaxMs }
  }
  if (leftMs <= marginMs) return { phase: 'last', mayAsk, deadlineMs: Math.min(askMaxMs, marginMs / 3) }
  const isWorthIt = isFirstLook || (isInDoubt && leftMs <= keepMs)
  return { phase: 'early', mayAsk: mayAsk && isWorthIt, deadlineMs: Math.min(askMaxMs, leftMs - marginMs) }
}

type HoldOutcome = {
  readonly act?: 'mature' | 'freeze' | 'extend' | 'recordCleared'
  /** Next check: after this decision, or counted from the start of the check. */
  readonly next?: { readonly inMs: number } | { readonly sinceStartMs: number }
}

/** Decides once the provider was asked. `unasked`: the budget of this round did not allow it; early, reports decide then. */
export function decideHold(
  phase: HoldPhase,
  stance: Stance | 'unasked',
  leftMs: number,
  { marginMs, keepMs, recheckMs, holdRecheckMs }: HoldTerms,
): HoldOutcome {
  switch (phase) {
    case 'early':
      // guard: a hold that is known to be in doubt is extended as soon as that is possible
      if (stance === 'extend' && leftMs <= keepMs)
        return { act: 'extend', next: { inMs: Math.min(leftMs - marginMs, recheckMs) } }
      if (stance === 'extend') return { next: { sinceStartMs: Math.min(leftMs - keepMs, holdRecheckMs) } }
      // The hold is read again long before its end, because the chain's clock need not keep pace with ours.
      return { next: { sinceStartMs: Math.min(leftMs - marginMs, holdRecheckMs) } }
    case 'last':
      // The budget may allow the question a little later, and until then there is time to extend the hold.
      if (stance === 'unasked')
        return { ...(leftMs <= (marginMs * 2) / 3 ? { act: 'extend' } : {}), next: { inMs: marginMs / 8 } }
      // guard: a hold is extended while the provider does not respond
      if (stance === 'extend' || stance === 'freeze') return { act: 'extend', next: { inMs: marginMs / 4 } }
      // If the margin is long, the hold is checked more than once within it.
      return { act: 'recordCleared', next: { sinceStartMs: Math.min(Math.max(0, leftMs) + afterEndMs, recheckMs) } }
    case 'ended':
      if (stance === 'unasked') return { act: 'freeze', next: { inMs: marginMs / 8 } }
      // guard: a hold does not end before the provider was asked
      return stance === 'free' ? { act: 'mature' } : { act: 'freeze', next: { inMs: recheckMs } }
  }
}
