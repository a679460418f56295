import type { ChannelKind } from '#shared/messages/activity'
import { money } from '#shared/money/money'
import { toAusdFloor } from '#shared/money/rate'
import { moneyText } from '#shared/money/text'
import type { Step } from '../decide'
import { atLeastZero, type PaymentFacts, type Reason, remainderFloor, wasCredited } from '../payment'
import { chargeFee } from '../price'

export const resolutions = ['credit', 'refund', 'accept'] as const
/** Decision of an operator. `credit` applies the amount paid, `refund` sends it back, `accept` leaves it as it is. */
export type Resolution = (typeof resolutions)[number]

type ResolutionRefused = { readonly not: string }

type ReviewFacts = PaymentFacts & {
  readonly paidMinor: bigint | null
  readonly promisedMicro: bigint | null
  readonly lateRateMinorPerUsd: bigint | null
  readonly refSequence: number
}

const otherMoney: ResolutionRefused = {
  not: "paid in another currency: settle it in the provider's dashboard, then accept the payment",
}
const inexact: ResolutionRefused = {
  not: "exact amount unknown: settle it in the provider's dashboard, then accept the payment",
}

/** Amounts of a credit, before late pricing and the recovery of reversals. */
export type Credit = {
  readonly fiatMinor: bigint
  readonly feeMinor: bigint
  readonly ausdMicro: bigint
  readonly promisedMicro: bigint | null
  /** Number of its chain ref, which is new if one was ordered before. */
  readonly refSequence: number
}

/**
 * Returns the credit of the amount actually paid less the fee of its channel, at the payment's rate, rounded down. A fee that was
 * charged on arrival is the same again.
 */
export function creditOf(payment: ReviewFacts, channel: ChannelKind): Credit | ResolutionRefused {
  const { paidMinor, fiatMinor, ausdMicro, promisedMicro, rateMinorPerUsd, lateRateMinorPerUsd, refSequence } = payment
  if (wasCredited(payment)) return { not: 'the payment has already taken effect' }
  if (payment.reason === 'currency_differs') return otherMoney
  if (paidMinor === null) return inexact
  const priced = {
    ...payment,
    rateMinorPerUsd: lateRateMinorPerUsd ?? rateMinorPerUsd,
    fiatMinor: paidMinor,
    ausdMicro: paidMinor === fiatMinor ? ausdMicro : otherWorthFloor(payment, paidMinor),
  }
  // guard: a top-up that an operator credits pays its fee
  const counted = { fiatMinor: paidMinor, ...chargeFee(priced, channel) }
  // A payment that covered an earlier loss keeps that effect, even if all of it went back.
  if (remainderFloor({ ...payment, ...counted }) === 0n && payment.recoveredMicro === 0n)
    return { not: 'nothing is left after refunds' }
  return {
    ...counted,
    promisedMicro: counted.ausdMicro === ausdMicro ? promisedMicro : (promisedMicro ?? ausdMicro),
    refSequence: payment.onchainMicro > 0n ? refSequence + 1 : refSequence,
  }
}

/**
 * Prices an amount that differs from the promised one. A settlement promises an exact sum of AUSD for a fiat amount that was
 * rounded up, so the amount is worth the same part of that sum.
 */
function otherWorthFloor(
  { kind, currency, fiatMinor, ausdMicro, rateMinorPerUsd, lateRateMinorPerUsd }: ReviewFacts,
  paidMinor: bigint,
): bigint {
  if (kind === 'settlement') return (ausdMicro * paidMinor) / fiatMinor
  const rate = { minorPerUsd: lateRateMinorPerUsd ?? rateMinorPerUsd, currency }
  return toAusdFloor(money(paidMinor, currency), rate).minor
}

/** Returns the refundable amount of the payment itself, in its currency's smallest unit. */
export function ownMinorToRefund(payment: ReviewFacts): bigint | ResolutionRefused {
  // guard: money that came back after its AUSD was revoked can be refunded
  if (wasCredited(payment)) return beyondGivenFloor(payment)
  if (payment.reason === 'currency_differs') return otherMoney
  if (payment.paidMinor === null) return inexact
  const leftMinor = payment.paidMinor - payment.refundedMinor
  if (leftMinor > 0n && payment.recoveredMicro > 0n)
    return { not: 'part of it covered an earlier reversal: credit the rest' }
  return leftMinor > 0n ? leftMinor : 0n
}

/**
 * Returns the money left of a payment that took effect, beyond what it gave: a part was revoked, and then its refund failed
 * (smallest units, rounded down).
 */
function beyondGivenFloor({ ausdMicro, fiatMinor, refundedMinor, onchainMicro, recoveredMicro }: ReviewFacts): bigint {
  const givenForMinor = ((onchainMicro + recoveredMicro) * fiatMinor + ausdMicro - 1n) / ausdMicro
  return atLeastZero(fiatMinor - refundedMinor - givenForMinor)
}

/** Refuses the acceptance of a payment if our books still owe the payer part of it. */
export function acceptanceOf(payment: ReviewFacts): ResolutionRefused | undefined {
  const isOwed = payment.onchainMicro > 0n && !wasCredited(payment) && payment.recoveredMicro > 0n
  return isOwed ? { not: 'part of it covered an earlier reversal: credit the rest' } : undefined
}

/**
 * Refusal while a refund or dispute is open: a charge whose dispute is lost is paid back to its payer,
 * whatever was refunded before.
 */
export const stillOpen = { refused: 'a refund or dispute of it is still open: wait for its outcome' }

/**
 * Returns why a payment cannot be refunded against `backMicro` (10⁻⁶ AUSD) that came back to the treasury, in words that
 * follow its id. Undefined if it can: it is a credited top-up without a hold.
 */
export function topupRefundFault(payment: ReviewFacts, backMicro: bigint): string | undefined {
  const { kind, state, currency, onchainMicro, recoveredMicro } = payment
  if (kind !== 'topup') return 'is not a top-up'
  if (state === 'held') return "is on hold: refund it in the provider's dashboard, which revokes it"
  if (state === 'review') return 'is in review: use review resolve'
  if (state !== 'credited') return `is ${state}, not credited`
  if (recoveredMicro > 0n) return 'covered an earlier reversal in part, which is not refunded'
  if (remainderFloor(payment) === 0n) return `has nothing left to refund in ${currency}`
  // guard: a credited top-up is refunded only after its AUSD came back
  if (backMicro < onchainMicro)
    return `gave ${moneyText(onchainMicro, 'AUSD')}, of which ${moneyText(backMicro, 'AUSD')} came back`
  return undefined
}

export const orderStates = ['open', 'succeeded', 'failed'] as const
type OrderState = (typeof orderStates)[number]

/**
 * Decides a refunding payment once none of its refunds is open: it ends if nothing is left to refund, and
 * otherwise returns to review.
 */
export function decideRefunding(payment: ReviewFacts, orders: readonly OrderState[]): Step {
  if (payment.state !== 'refunding' || orders.includes('open')) return { stay: true }
  const ownMinor = ownMinorToRefund(payment)
  const secondMinor = payment.overpaidMinor - payment.overpaidRefundedMinor
  const isOwed = typeof ownMinor !== 'bigint' || ownMinor > 0n
  // A part was revoked before its refund failed, and the chain did not let it be applied again.
  // guard: a payment that gave less than its money is worth goes back to review after a refund
  if (isOwed && secondMinor === 0n && wasCredited(payment)) return { next: 'review', reason: 'refund_undone' }
  if (isOwed || secondMinor > 0n) return { next: 'review', reason: payment.reason ?? 'paid_twice' }
  if (!wasCredited(payment)) return { next: 'refunded', reason: 'refunded_before_credit' }
  if (payment.refundedMinor > payment.refundAppliedMinor) return { next: 'review', reason: 'refunded_after_credit' }
  // The wallet had given its AUSD back.
  if (payment.kind === 'topup' && payment.onchainMicro > 0n && remainderFloor(payment) === 0n)
    return { next: 'accepted', reason: 'refunded_after_credit' }
  return { next: givenStateOf(payment), reason: refundedReasonOf(payment) }
}

function refundedReasonOf({ overpaidMinor, refundedMinor }: PaymentFacts): Reason {
  if (overpaidMinor > 0n) return 'second_refunded'
  return refundedMinor > 0n ? 'refunded_in_part' : 'refund_undone'
}

function givenStateOf({ kind, onchainMicro, recoveredMicro }: PaymentFacts) {
  if (onchainMicro === 0n && recoveredMicro === 0n) return 'revoked' as const
  return kind === 'topup' ? ('credited' as const) : ('repaid' as const)
}
