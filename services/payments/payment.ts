import { canBecome, type Lifecycle } from '#platform/lifecycle'
import type { Limit, Limits, Rest } from '#platform/metrics/state-limits'
import type { activityStatuses, NextAction } from '#shared/messages/activity'
import type { Fiat } from '#shared/money/money'

export const paymentKinds = ['topup', 'settlement'] as const
export type PaymentKind = (typeof paymentKinds)[number]

/** States of a top-up: those that users see, and `opening`, in which there is no checkout yet. */
type TopupState = 'opening' | (typeof activityStatuses.topup)[number]

/** Transitions of a top-up. `review` ends only by an operator, or if the provider takes back what caused it. */
export const topupLifecycle: Lifecycle<TopupState> = {
  // The provider may have opened a checkout whose response was lost, and that checkout may be paid.
  opening: ['awaiting_payment', 'expired', 'paid', 'refunded', 'review'],
  awaiting_payment: ['paid', 'expired', 'refunded', 'review'],
  // A bank may settle a transfer after the checkout has closed; we still owe the credit.
  expired: ['paid', 'refunded', 'review'],
  paid: ['credited', 'held', 'revoking', 'review'],
  held: ['credited', 'revoking', 'review'],
  // The payment was refunded after the credit, or paid twice; or an operator refunds it, after its AUSD came back.
  credited: ['review', 'refunding'],
  // More is revoked if more was refunded since; the payment is applied again if a refund was undone.
  revoking: ['revoking', 'held', 'revoked', 'paid', 'review'],
  revoked: ['review'],
  refunded: ['review'],
  // An operator decides, or the refund that caused the review has failed.
  review: ['paid', 'refunding', 'accepted', 'credited'],
  // Refunding a second payment leaves the first unchanged.
  refunding: ['refunded', 'credited', 'revoked', 'accepted', 'review'],
  // The payment was paid again, or a refund that an operator knew, accepted or ordered has failed.
  accepted: ['review', 'credited'],
}

type SettlementState = 'opening' | (typeof activityStatuses.settlement)[number]

/**
 * Transitions of a settlement. Money from a held channel repays immediately; the contract keeps its value
 * encumbered until the hold ends, and a refund before then restores the debt.
 */
export const settlementLifecycle: Lifecycle<SettlementState> = {
  opening: ['awaiting_payment', 'expired', 'replaced', 'paid', 'refunded', 'review'],
  awaiting_payment: ['paid', 'expired', 'replaced', 'refunded', 'review'],
  expired: ['paid', 'refunded', 'review'],
  // A newer checkout exists for this debt, but a payment code that was already shown may still be paid.
  replaced: ['paid', 'refunded', 'review'],
  paid: ['repaid', 'revoking', 'review'],
  repaid: ['revoking', 'review'],
  revoking: ['revoking', 'repaid', 'revoked', 'paid', 'review'],
  revoked: ['review'],
  refunded: ['review'],
  review: ['paid', 'refunding', 'accepted', 'repaid'],
  refunding: ['refunded', 'repaid', 'revoked', 'review'],
  accepted: ['review'],
}

export type PaymentState = TopupState | SettlementState
export const paymentStates = [
  ...new Set([...Object.keys(topupLifecycle), ...Object.keys(settlementLifecycle)]),
] as PaymentState[]

const minuteMs = 60_000
/** Longest hold to be expected (a week) plus the day by which it may be extended. */
const holdMaxMs = 8 * 86_400_000
const noRate = {
  afterMs: 60 * minuteMs,
  alarm: 'late payment still has no exchange rate',
  steps: '`bus micro stats pricing --json`, `dc logs pricing`; release a rate jump ([Rates](deploy.md#6-rates)).',
} as const
const noEnd = {
  afterMs: holdMaxMs,
  alarm: 'hold has not ended',
  steps:
    '`dc logs payments`: provider or chain cannot be read. A longer `HOLD_SECONDS` needs a higher limit in the code.',
} as const

/** Facts about a state, from which all code that treats states alike derives. */
type StateFacts = {
  /**
   * The payment is not finished, so indexes, the console, `ops` and the treasury cover count it. `repaid`,
   * `expired` and `replaced` are open only at times: see `isOpen`.
   */
  readonly open?: true
  /** No money was received, so there is no charge. */
  readonly unpaid?: true
  /** Users see the payment as in flight: its money arrived, but its effect or refund is not final. */
  readonly inFlight?: true
  /** During a hold, it must not end before the provider has confirmed that nothing is on its way back. */
  readonly mayHold?: true
  /** Next action of the user, or null. */
  readonly nextAction: NextAction | null
}

/** Limits and facts of each state. `awaited` in `payment.table.ts` selects the rows to which a limit applies. */
export const states: { readonly [S in PaymentState]: (Limit | Rest) & StateFacts } = {
  opening: {
    afterMs: 30 * minuteMs,
    alarm: 'checkout not opened in time',
    steps: '`dc logs payments`, Postgres, age of the outbox.',
    open: true,
    unpaid: true,
    nextAction: null,
    awaits: 'the provider to open the checkout',
  },
  // The limit counts from the end of the checkout.
  awaiting_payment: {
    afterMs: 60 * minuteMs,
    alarm: 'checkout outcome unknown',
    steps: '`dc logs payments`: is the provider down, or `PROVIDER_REQUESTS_PER_MINUTE` too low?',
    open: true,
    unpaid: true,
    nextAction: 'pay',
    awaits: 'the payer',
  },
  // The limit applies only while the payment awaits a rate; otherwise nothing is owed.
  expired: { ...noRate, unpaid: true, nextAction: null },
  replaced: { ...noRate, unpaid: true, nextAction: null },
  paid: {
    afterMs: 10 * minuteMs,
    alarm: 'payment not recorded on chain',
    steps: 'Check the relayer.',
    open: true,
    inFlight: true,
    nextAction: 'wait',
    awaits: 'the credit to become final on the chain',
  },
  held: {
    ...noEnd,
    open: true,
    mayHold: true,
    nextAction: 'wait',
    awaits: 'the hold to end (the payment can still be reversed)',
  },
  // The limit applies only during the hold.
  repaid: { ...noEnd, mayHold: true, nextAction: null },
  revoking: {
    afterMs: 10 * minuteMs,
    alarm: 'payment not revoked on chain',
    steps: 'Refunded money stays usable until this is done. Check the relayer.',
    open: true,
    inFlight: true,
    mayHold: true,
    nextAction: 'wait',
    awaits: 'the reversal to become final on the chain',
  },
  credited: { rests: 'the collateral is credited', nextAction: null },
  revoked: { rests: 'the money was refunded and the AUSD reversed', nextAction: null },
  refunded: { rests: 'the money was refunded and no AUSD was credited', nextAction: null },
  review: {
    rests: 'an alert was raised on entry',
    open: true,
    nextAction: 'contact support',
    awaits: 'manual review',
  },
  refunding: {
    afterMs: 24 * 60 * minuteMs,
    alarm: 'refund not completed by provider',
    steps:
      "Look up its reference in the provider's dashboard (`payments.refund_orders`). Some channels stay pending for days. If it has none and refuses each request, `review give-up <payment> <reference>`.",
    open: true,
    inFlight: true,
    nextAction: 'wait',
    awaits: 'the provider to make the refund',
  },
  accepted: { rests: 'an operator accepted it as it is', nextAction: null },
}
export const limits: Limits<PaymentState> = states

export const statesWith = (fact: Exclude<keyof StateFacts, 'nextAction'>): PaymentState[] =>
  (Object.keys(states) as PaymentState[]).filter((state) => states[state][fact])

/** States of a settlement that can still be paid or is not on the chain yet. */
export const unsettledStates: readonly SettlementState[] = ['opening', 'awaiting_payment', 'paid']

/** States whose money is not expected, or went back: they count for no limit on the top-ups of all wallets together. */
export const uncountedStates = ['expired', 'replaced', 'refunded'] as const satisfies readonly PaymentState[]

export function mayBecome({ kind, state }: Pick<PaymentFacts, 'kind' | 'state'>, to: PaymentState) {
  const table = kind === 'topup' ? topupLifecycle : settlementLifecycle
  return state in table && canBecome<string>(table as never, state, to)
}

/** Reasons for a payment's state, whose texts are in `shared/language/payments.ts`. */
export const reasons = [
  'awaiting_rate',
  'amount_differs',
  'overpaid',
  'currency_differs',
  'sender_unverified',
  'excess_refused',
  'paid_twice',
  'second_refunded',
  'replaced',
  'cancelled',
  'made_good',
  'refunded_before_credit',
  'refunded_in_part',
  'refunded_during_hold',
  'refunded_after_credit',
  'refund_undone',
  'credit_failed',
  'repay_failed',
  'revoke_failed',
] as const
export type Reason = (typeof reasons)[number]

/** Facts on which every decision is based. Fiat amounts are in the currency's smallest unit. */
export type PaymentFacts = {
  readonly kind: PaymentKind
  readonly state: PaymentState
  readonly currency: Fiat
  readonly fiatMinor: bigint
  readonly rateMinorPerUsd: bigint
  /** Value of the whole payment less its fee (10⁻⁶ AUSD); of late money, its value once priced. */
  readonly ausdMicro: bigint
  /** Part of `fiatMinor` that is our fee; 0 until the channel of a top-up is known. */
  readonly feeMinor: bigint
  /** Fees by channel that a top-up was promised, as `topupFeesText` writes them; null without fees. */
  readonly topupFees: string | null
  readonly expiresAt: Date | null
  readonly reason?: Reason | null
  readonly providerPaymentId: string | null
  /** True if payments of the channel can be reversed; null until the channel is known. */
  readonly held: boolean | null
  /** AUSD on the chain under the current ref, or ordered (10⁻⁶ AUSD). */
  readonly onchainMicro: bigint
  /** Amount that the latest revocation order leaves (10⁻⁶ AUSD). */
  readonly leftMicro: bigint
  /** Amount that the treasury kept to cover earlier reversals (10⁻⁶ AUSD). */
  readonly recoveredMicro: bigint
  /** Time at which the effect was final on the chain; null before. */
  readonly creditedAt: Date | null
  /** Time from which the chain could no longer reverse the payment; null before, or if it was never held. */
  readonly holdEndedAt: Date | null
  readonly refundedMinor: bigint
  /** Part of `refundedMinor` that is already deducted from `onchainMicro`. */
  readonly refundAppliedMinor: bigint
  /** Amount waived on refunds that we ordered after the credit (10⁻⁶ AUSD). */
  readonly writtenOffMicro: bigint
  readonly overpaidMinor: bigint
  /** Part of `overpaidMinor` that went back; more than it if it was refunded and disputed. */
  readonly overpaidRefundedMinor: bigint
}

/** Returns true if the payment is late money that has no exchange rate yet. */
export const awaitsRate = ({ reason }: Pick<PaymentFacts, 'reason'>): boolean => reason === 'awaiting_rate'

/** Returns true if no charge was received, or only one that waits for a rate. */
export const isUnreceived = (payment: Pick<PaymentFacts, 'providerPaymentId' | 'reason'>) =>
  payment.providerPaymentId === null || awaitsRate(payment)

/** Returns true if the payment took effect: it is on the chain, or all of it covered earlier reversals. */
export const wasCredited = ({ creditedAt, recoveredMicro, onchainMicro }: GivenFacts): boolean =>
  creditedAt !== null || (recoveredMicro > 0n && onchainMicro === 0n)
type GivenFacts = Pick<PaymentFacts, 'creditedAt' | 'recoveredMicro' | 'onchainMicro'>

/** Returns true if the payment is on the chain and still revocable there. */
export const isOnHold = ({ held, creditedAt, holdEndedAt }: HoldFacts): boolean =>
  held === true && creditedAt !== null && holdEndedAt === null
type HoldFacts = Pick<PaymentFacts, 'held' | 'creditedAt' | 'holdEndedAt'>

/** Returns true if the hold must not end before the provider's confirmation, or before its revocation is final. */
export const needsHold = (payment: HoldFacts & Pick<PaymentFacts, 'state'>): boolean =>
  isOnHold(payment) && states[payment.state].mayHold === true

/**
 * Returns true if its money is on hold on the chain, or will be once its order is executed. The relayer reports an order
 * after the hold has begun, so a payment whose order waits may be on hold already.
 */
export const mayBeOnHold = (payment: HoldFacts & Pick<PaymentFacts, 'state'>): boolean =>
  needsHold(payment) || (payment.state === 'paid' && payment.held === true)

/** Returns the value left after refunds (10⁻⁶ AUSD, rounded down). */
export const remainderFloor = ({ ausdMicro, fiatMinor, refundedMinor }: RemainderFacts): bigint =>
  refundedMinor >= fiatMinor ? 0n : (ausdMicro * (fiatMinor - refundedMinor)) / fiatMinor
type RemainderFacts = Pick<PaymentFacts, 'ausdMicro' | 'fiatMinor' | 'refundedMinor'>

export type BackFacts = RemainderFacts &
  Pick<PaymentFacts, 'feeMinor' | 'providerPaymentId' | 'reason' | 'overpaidMinor' | 'overpaidRefundedMinor'> & {
    readonly paidMinor: bigint | null
  }

/**
 * Returns the money that went back beyond the amount paid: the provider may pay both a refund and a dispute
 * of one charge.
 */
export function beyondMinor(payment: BackFacts): bigint {
  const { providerPaymentId, reason, paidMinor, refundedMinor } = payment
  const isCounted = providerPaymentId !== null && paidMinor !== null && reason !== 'currency_differs'
  const ownMinor = isCounted ? atLeastZero(refundedMinor - paidMinor) : 0n
  return ownMinor + atLeastZero(payment.overpaidRefundedMinor - payment.overpaidMinor)
}

/** Returns `beyondMinor` at the payment's rate (10⁻⁶ AUSD, rounded up), at which its fee bought nothing. */
export function beyondCeil(payment: BackFacts): bigint {
  const { ausdMicro, fiatMinor, feeMinor } = payment
  // guard: money that goes back beyond a payment is owed at the rate after the fee
  const boughtMinor = fiatMinor - feeMinor
  return (ausdMicro * beyondMinor(payment) + boughtMinor - 1n) / boughtMinor
}

/** Returns the part of the fee that is earned with the money left after refunds, in smallest units, rounded down. */
export const earnedFeeFloor = ({ feeMinor, fiatMinor, refundedMinor }: EarningFacts): bigint =>
  refundedMinor >= fiatMinor ? 0n : (feeMinor * (fiatMinor - refundedMinor)) / fiatMinor
type EarningFacts = Pick<PaymentFacts, 'feeMinor' | 'fiatMinor' | 'refundedMinor'>

/** Returns the fee as users see it. There is none without a fee, or once all of the money went back. */
export const shownFee = ({ feeMinor, fiatMinor, refundedMinor }: EarningFacts): { fee?: string } =>
  feeMinor > 0n && refundedMinor < fiatMinor ? { fee: feeMinor.toString() } : {}

export const atLeastZero = (amount: bigint): bigint => (amount > 0n ? amount : 0n)

export const least = (left: bigint, right: bigint): bigint => (left < right ? left : right)

export const most = (left: bigint, right: bigint): bigint => (left > right ? left : right)

/** Returns the AUSD (10⁻⁶) of a payment that the limits of top-ups count once its fee, if any, is known. */
export const limitedMicro = (
  { topupMicro }: { readonly topupMicro: bigint },
  { feeMinor, ausdMicro }: Pick<PaymentFacts, 'feeMinor' | 'ausdMicro'>,
): bigint => (feeMinor > 0n ? least(topupMicro, ausdMicro) : topupMicro)

export const refIdOf = ({ id, refSequence }: { id: string; refSequence: number }): string =>
  refSequence === 0 ? id : `${id}.${refSequence}`

/**
 * Returns the cause under which the relayer reports the latest revocation; for a revocation of everything, it
 * is the ref id.
 */
export const revocationOf = (payment: { id: string; refSequence: number; leftMicro: bigint }): string =>
  payment.leftMicro === 0n ? refIdOf(payment) : `${refIdOf(payment)}:${payment.leftMicro}`

export function parseRefId(refId: string): { id: string; refSequence: number } | undefined {
  const [id = '', sequence = '0', ...more] = refId.split('.')
  if (paymentIdFrom(id) !== id || !/^[0-9]{1,4}$/.test(sequence) || more.length > 0) return undefined
  return { id, refSequence: Number(sequence) }
}

const idLength = 26

/**
 * Returns the payment id in a reference: the id alone, or followed by `_` and the attempt, as in the
 * provider's sample card payment.
 */
export function paymentIdFrom(reference: string): string | undefined {
  const id = reference.slice(0, idLength)
  if (!/^pay_[A-Za-z0-9_-]{22}$/.test(id)) return undefined
  return reference.length === idLength || reference[idLength] === '_' ? id : undefined
}

const orderedPrefix = 'ordered-'

/** Returns our reference for refund `number` of a payment, counted from 1. */
export const orderedReference = (id: string, number: number): string => `${orderedPrefix}${id}_${number}`

/** Returns the payment id in a reference, also in that of a refund that we ordered. */
export const paymentIdIn = (reference: string | null): string | undefined =>
  paymentIdFrom(reference?.startsWith(orderedPrefix) ? reference.slice(orderedPrefix.length) : (reference ?? ''))

/** Returns true for the reference of a refund that we ordered. */
export const isOrderedByUs = (reference: string | null): boolean =>
  reference?.startsWith(orderedPrefix) === true && paymentIdIn(reference) !== undefined
