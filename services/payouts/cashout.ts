import type { Lifecycle } from '#platform/lifecycle'
import type { Limits } from '#platform/metrics/state-limits'
import { sentenceOf, type TextRef } from '#shared/language/catalogue'
import type { ActivityReason, NextAction } from '#shared/messages/activity'
import type { CashoutCreate } from '#shared/messages/payouts'
import type { ReadRequestOf } from '#shared/messages/topic'

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
/** States that users see: those of accepted cash-outs. */
export type ShownState = Exclude<CashoutState, 'opening' | 'expired'>

export const lifecycle: Lifecycle<CashoutState> = {
  // The cash-out is accepted once its quote is taken. It becomes `returning` if a restored row does not
  // record that its AUSD was taken.
  opening: ['taking', 'expired', 'returning'],
  expired: ['returning'],
  // `returning` if a limit was used up before the AUSD of a contract wallet arrived.
  taking: ['taken', 'failed', 'returning'],
  failed: ['returning'], // The signed transfer can still be submitted.
  taken: ['paying', 'returning'], // An operator may cancel it.
  paying: ['paid', 'returning'], // An unclear response changes nothing.
  paid: ['returning'], // A bank may return a transfer later.
  returning: ['returned'],
  returned: [],
}

const minuteMs = 60_000

export const limits: Limits<CashoutState> = {
  opening: {
    afterMs: 10 * minuteMs,
    alarm: 'cash-out neither accepted nor ended',
    steps: '`dc logs payouts`, Postgres. Nothing was taken, and the user has no response.',
    awaits: 'the quote to be taken',
  },
  expired: { rests: 'it was never accepted' },
  taking: {
    afterMs: 15 * minuteMs,
    alarm: 'cash-out AUSD not taken',
    steps: '`dc logs chain-relayer` has the reason.',
    awaits: 'the AUSD to reach the treasury',
  },
  taken: {
    afterMs: 10 * minuteMs,
    alarm: 'cash-out not ordered at provider',
    steps:
      'If `ops trace` shows that an operator holds it, `cashouts release` or `cancel`. Otherwise `dc logs payouts`: key, balance and IP allow-list of the Indonesian account.',
    awaits: 'the payout to be submitted',
  },
  paying: {
    afterMs: 120 * minuteMs,
    alarm: 'bank transfer outcome unknown',
    steps:
      "Look up the payout id as reference in the provider's dashboard. Never send a second transfer. If the provider confirms that it has no such payout and will make none, `cashouts give-up`.",
    awaits: 'the bank',
  },
  returning: {
    afterMs: 10 * minuteMs,
    alarm: 'cash-out AUSD not returned',
    steps: 'Check the relayer. Does the treasury hold enough AUSD?',
    awaits: 'the AUSD to be returned on the chain',
  },
  paid: { rests: 'the bank was paid; rechecks look for a reversal' },
  failed: { rests: 'no AUSD was taken; the relayer watches the signed transfer' },
  returned: { rests: 'the AUSD is back in the wallet' },
}

/** States before the payout is ordered. */
export const unpaidStates: ReadonlySet<CashoutState> = new Set(['opening', 'taking', 'taken'])

export const inFlightStates: readonly CashoutState[] = ['taking', 'taken', 'paying', 'returning']

/** Time for which a cash-out may wait for its quote, in ms. A longer wait would be a free option on the rate. */
export const openingMaxMs = 60_000

const reasons = [
  'authorization_expired',
  'authorization_used',
  'balance_too_low',
  'account_frozen',
  'take_failed',
  'taken_late',
  'account_unknown',
  'name_differs',
  'account_limit',
  'closed_market_limit',
  'limit_of_all',
  'bank_unavailable',
  'bank_refused',
  'bank_reversed',
  'cancelled',
  'compliance',
  'provider_refused',
] as const satisfies readonly ActivityReason[]
export type Reason = (typeof reasons)[number]

const nextActions: Readonly<Record<ShownState, NextAction | null>> = {
  taking: 'wait',
  taken: 'wait',
  paying: 'wait',
  paid: null,
  failed: null,
  returning: 'wait',
  returned: null,
}

const uncharged: ReadonlySet<CashoutState> = new Set(['failed', 'returning', 'returned'])

/** Returns the fee as users see it. Without one, or if the AUSD stays in the wallet or goes back, there is none. */
export const shownFee = ({ state, feeMinor }: { state: CashoutState; feeMinor: bigint }): { fee?: string } =>
  feeMinor > 0n && !uncharged.has(state) ? { fee: feeMinor.toString() } : {}

export function wordsFor({ state, reason }: { state: ShownState; reason: Reason | null }) {
  const why: readonly TextRef[] = reason ? [{ code: `cashout.reason.${reason}` }] : []
  return { ...sentenceOf([...why, { code: `cashout.${state}` }]), nextAction: nextActions[state] }
}

const takeReasons: ReadonlyMap<string, Reason> = new Map([
  ['authorization_expired', 'authorization_expired'],
  ['authorization_cancelled', 'authorization_used'],
  ['authorization_used_elsewhere', 'authorization_used'],
  ['authorization_conflict', 'authorization_used'],
  ['given_back', 'authorization_used'],
  ['balance_too_low', 'balance_too_low'],
  ['account_frozen', 'account_frozen'],
])

export const takeReasonFrom = (word: string): Reason => takeReasons.get(word) ?? 'take_failed'
