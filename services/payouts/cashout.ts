import type { Lifecycle } from '#platform/lifecycle'
import type { Limits } from '#platform/metrics/state-limits'
import { sentenceOf, type TextRef } from '#shared/language/catalogue'
import type { ActivityReason, NextAction } from '#shared/messages/activity'
import type { CashoutCreate } from '#shared/messages/payouts'
import type { ReadRequestOf } from '#shared/messages/topic'

/** A user's request: a signed transfer of AUSD, and the bank account to pay. */
export type CashoutRequest = ReadRequestOf<typeof CashoutCreate>

export const cashoutStates = [
  'opening',
  'expired',
  'taking',
  'taken',
  'paying',
  'paid',
  'failed',
  'returning',
  'returned',
] as const
export type CashoutState = (typeof cashoutStates)[number]
/** States of a cash-out that was accepted; users see no others. */
export type ShownState = Exclude<CashoutState, 'opening' | 'expired'>

/** Steps from the user's signature to the bank, or back to the wallet. */
export const lifecycle: Lifecycle<CashoutState> = {
  // Accepted once its quote is taken; `returning` if AUSD was taken that these rows do not know of.
  opening: ['taking', 'expired', 'returning'],
  expired: ['returning'],
  taking: ['taken', 'failed'],
  failed: ['returning'], // No AUSD was taken, but the signed transfer can still be submitted.
  taken: ['paying'],
  paying: ['paid', 'returning'], // Ended by evidence only: an unclear response changes nothing.
  paid: ['returning'], // A bank may return a transfer after the provider reported success.
  returning: ['returned'],
  returned: [],
}

const minuteMs = 60_000

/** Maximum time in each state before an alert. */
export const limits: Limits<CashoutState> = {
  opening: { afterMs: 10 * minuteMs, alarm: 'cash-out neither accepted nor ended' },
  expired: { rests: 'it was never accepted' },
  taking: { afterMs: 15 * minuteMs, alarm: 'cash-out AUSD not taken' },
  taken: { afterMs: 10 * minuteMs, alarm: 'cash-out not ordered at provider' },
  paying: { afterMs: 120 * minuteMs, alarm: 'bank transfer outcome unknown' },
  returning: { afterMs: 10 * minuteMs, alarm: 'cash-out AUSD not returned' },
  paid: { rests: 'the bank was paid; rechecks look for a reversal' },
  failed: { rests: 'no AUSD was taken; the relayer watches the signed transfer' },
  returned: { rests: 'the AUSD is back in the wallet' },
}

/** States not yet final onchain or not yet confirmed by the provider. */
export const inFlightStates: readonly CashoutState[] = ['taking', 'taken', 'paying', 'returning']

/** How long a stored cash-out may wait for its quote. Longer would be a free option on the rate. */
export const openingMaxMs = 60_000

/** Why a cash-out did not reach the bank. */
const reasons = [
  ...(['authorization_expired', 'authorization_used', 'balance_too_low'] as const),
  ...(['account_frozen', 'take_failed', 'taken_late', 'account_unknown', 'name_differs'] as const),
  ...(['account_limit', 'bank_unavailable', 'bank_refused', 'bank_reversed'] as const),
  ...(['cancelled', 'compliance', 'provider_refused'] as const),
] as const satisfies readonly ActivityReason[]
export type Reason = (typeof reasons)[number]

/** Next step for each state. */
const nextActions: Readonly<Record<ShownState, NextAction | null>> = {
  ...{ taking: 'wait', taken: 'wait', paying: 'wait', paid: null, failed: null },
  ...{ returning: 'wait', returned: null },
}

/** Returns the words a user reads about a cash-out. */
export function wordsFor({ state, reason }: { state: ShownState; reason: Reason | null }) {
  const why: readonly TextRef[] = reason ? [{ code: `cashout.reason.${reason}` }] : []
  return { ...sentenceOf([...why, { code: `cashout.${state}` }]), nextAction: nextActions[state] }
}

/** The relayer's reasons for a take that failed permanently. */
const takeReasons: ReadonlyMap<string, Reason> = new Map([
  ['authorization_expired', 'authorization_expired'],
  ['authorization_cancelled', 'authorization_used'],
  ['authorization_used_elsewhere', 'authorization_used'],
  ['authorization_conflict', 'authorization_used'],
  ['given_back', 'authorization_used'],
  ['balance_too_low', 'balance_too_low'],
  ['account_frozen', 'account_frozen'],
])

/** Maps the relayer's reason to one of ours. */
export const takeReasonFrom = (word: string): Reason => takeReasons.get(word) ?? 'take_failed'
