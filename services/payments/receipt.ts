import { type Charge, mayBecome, type PaymentFacts, type Reason } from './payment'

/** What to do about money that arrived. */
export type Receipt =
  | { known: true }
  | { overpaid: true }
  | { next: 'paid' }
  | { next: 'review' | 'refunded'; reason: Reason }

/**
 * Decides about a succeeded payment for what we promised. The first one that fits is credited; any
 * other payment for the same promise is money a person has to give back.
 */
export function decideReceipt(payment: PaymentFacts, charge: Charge): Receipt {
  if (payment.providerPaymentId === charge.paymentId) return { known: true }
  if (payment.providerPaymentId !== null || !mayBecome(payment, 'paid')) return { overpaid: true }
  if (charge.currency !== payment.currency) return { next: 'review', reason: 'currency_differs' }
  if (charge.paidMinor !== payment.fiatMinor) return { next: 'review', reason: 'amount_differs' }
  if (payment.refundedMinor >= payment.fiatMinor)
    return { next: 'refunded', reason: 'refunded_before_credit' }
  if (payment.refundedMinor > 0n) return { next: 'review', reason: 'refunded_in_part' }
  return { next: 'paid' }
}

/** What to do about a payment after a step on the chain, or after a refund. */
export type Step =
  | { stay: true }
  | { next: 'held' | 'credited' | 'repaid' | 'revoked' }
  | { next: 'revoking'; reason: Reason }
  | { next: 'review'; reason: Reason }

/** The order of `paid` is final on the chain. */
export function decideSettled(payment: PaymentFacts): Step {
  if (payment.state !== 'paid') return { stay: true }
  const refunded = payment.refundedMinor > 0n
  if (payment.kind === 'topup' && payment.held)
    return refunded ? { next: 'revoking', reason: 'refunded_during_hold' } : { next: 'held' }
  if (refunded) return { next: 'review', reason: 'refunded_after_credit' }
  if (payment.overpaidMinor > 0n) return { next: 'review', reason: 'paid_twice' }
  return { next: payment.kind === 'topup' ? 'credited' : 'repaid' }
}

/** The chain says that nothing of this wallet is pending any more. */
export function decideMatured(payment: PaymentFacts): Step {
  if (payment.state !== 'held') return { stay: true }
  if (payment.overpaidMinor > 0n) return { next: 'review', reason: 'paid_twice' }
  return { next: 'credited' }
}

/** The held top-up was taken back, all of it, whatever part of it was refunded. */
export function decideRevoked(payment: PaymentFacts): Step {
  if (payment.state !== 'revoking') return { stay: true }
  if (payment.overpaidMinor > 0n) return { next: 'review', reason: 'paid_twice' }
  if (payment.refundedMinor < payment.fiatMinor)
    return { next: 'review', reason: 'refunded_in_part' }
  return { next: 'revoked' }
}

/** A refund succeeded and is already counted in `refundedMinor`. */
export function decideRefunded(payment: PaymentFacts): Step {
  switch (payment.state) {
    case 'held':
      return { next: 'revoking', reason: 'refunded_during_hold' }
    case 'credited':
    case 'repaid':
      return { next: 'review', reason: 'refunded_after_credit' }
    default:
      return { stay: true } // Before the credit, or with it under way: decided when that ends.
  }
}

/** A second payment of the same promise arrived and is already counted in `overpaidMinor`. */
export function decideOverpaid(payment: PaymentFacts): Step {
  const busy = ['paid', 'held', 'revoking', 'review'].includes(payment.state)
  return busy ? { stay: true } : { next: 'review', reason: 'paid_twice' }
}
