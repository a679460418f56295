import type { Step } from '../decide'
import { type PaymentFacts, type Reason, remainderFloor, wasGiven } from '../payment'

// What an operator may decide about a payment that waits for a person, and what follows from it. Each
// decision is refused in words, because a person reads them.

export const resolutions = ['credit', 'refund', 'accept'] as const
/** `credit`: what was paid counts. `refund`: it goes back. `accept`: it stays as it is, for good. */
export type Resolution = (typeof resolutions)[number]

/** Why a decision cannot be taken. */
export type Refused = { readonly not: string }

/** What a decision is made from, besides what was promised. */
export type ReviewFacts = PaymentFacts & {
  readonly paidMinor: bigint | null
  readonly overpaidRefundedMinor: bigint
  readonly promisedMicro: bigint | null
  readonly part: number
}

const otherMoney: Refused = {
  not: 'it was paid in another currency: see to it in the dashboard of the provider, then accept it',
}
const inexact: Refused = {
  not: 'the provider did not say exactly how much was paid: see to it in its dashboard, then accept it',
}

/** What crediting changes in the row before what late money is worth, and what makes good a loss. */
export type Credit = {
  readonly fiatMinor: bigint
  readonly ausdMicro: bigint
  readonly promisedMicro: bigint | null
  /** The ref that it is put on the chain under: a new one, if one was ordered before. */
  readonly part: number
}

/**
 * What a payment counts for if what was paid counts, at the rate of its quote, rounded down: of one
 * that differs from what was asked for another amount than was promised.
 */
export function creditOf(payment: ReviewFacts): Credit | Refused {
  const { paidMinor, fiatMinor, ausdMicro, promisedMicro, part } = payment
  if (wasGiven(payment)) return { not: 'what it was paid for is done already' }
  if (payment.reason === 'currency_differs') return otherMoney
  if (paidMinor === null) return inexact
  const counted = { fiatMinor: paidMinor, ausdMicro: (ausdMicro * paidMinor) / fiatMinor }
  if (remainderFloor({ ...payment, ...counted }) === 0n) return { not: 'nothing is left of it' }
  return {
    ...counted,
    promisedMicro: paidMinor === fiatMinor ? promisedMicro : (promisedMicro ?? ausdMicro),
    part: payment.liveMicro > 0n ? part + 1 : part,
  }
}

/** What has to go back of the payment itself, in its currency's smallest unit. */
export function ownMinorToRefund(payment: ReviewFacts): bigint | Refused {
  if (wasGiven(payment)) return 0n
  if (payment.reason === 'currency_differs') return otherMoney
  if (payment.paidMinor === null) return inexact
  const leftMinor = payment.paidMinor - payment.refundedMinor
  if (leftMinor > 0n && payment.offsetMicro > 0n)
    return { not: 'a part of it made good an earlier loss: credit the rest' }
  return leftMinor > 0n ? leftMinor : 0n
}

/** May it stay as it is? What the payer is still owed by our own books may not. */
export function acceptanceOf(payment: ReviewFacts): Refused | undefined {
  const isOwed = payment.liveMicro > 0n && !wasGiven(payment) && payment.offsetMicro > 0n
  return isOwed ? { not: 'a part of it made good an earlier loss: credit the rest' } : undefined
}

/** What became of each refund that was ordered for a payment. */
export type OrderState = 'open' | 'succeeded' | 'failed'

/**
 * The refunds of a payment in `refunding`, once none is under way: it ends when nothing is left to
 * give back, and goes back to a person when something is.
 */
export function decideRefunding(payment: ReviewFacts, orders: readonly OrderState[]): Step {
  if (payment.state !== 'refunding' || orders.includes('open')) return { stay: true }
  const ownMinor = ownMinorToRefund(payment)
  const secondMinor = payment.overpaidMinor - payment.overpaidRefundedMinor
  const isLeft = typeof ownMinor !== 'bigint' || ownMinor > 0n || secondMinor > 0n
  const reason: Reason = payment.reason ?? 'paid_twice'
  if (isLeft) return { next: 'review', reason }
  if (!wasGiven(payment)) return { next: 'refunded', reason: 'refunded_before_credit' }
  if (payment.refundedMinor > payment.refundAppliedMinor)
    return { next: 'review', reason: 'refunded_after_credit' }
  return { next: givenStateOf(payment), reason: 'second_refunded' }
}

/** Where a payment rests whose own money is where it was meant to be, or went back before. */
function givenStateOf({ kind, liveMicro, offsetMicro }: PaymentFacts) {
  if (liveMicro === 0n && offsetMicro === 0n) return 'revoked' as const
  return kind === 'topup' ? ('credited' as const) : ('repaid' as const)
}
