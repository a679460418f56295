import type { ChannelKind } from '#shared/messages/activity'
import {
  awaitsRate,
  isOnHold,
  mayBecome,
  type PaymentFacts,
  type PaymentState,
  type Reason,
  remainderFloor,
} from './payment'
import { lateWorthFloor } from './price'
import type { Charge } from './provider'

/** Money of a bank or a QR code cannot be called back; all other money is held for a while. */
export const isHeld = (kind: ChannelKind): boolean => kind !== 'bank' && kind !== 'qr'

/** What to store of money that is worth less than promised because it came late. */
type LateWorth = NonNullable<ReturnType<typeof lateWorthFloor>>

/** What to do about money that arrived. `liveMicro`: what to put on the chain, 10⁻⁶ AUSD. */
export type Receipt =
  | { known: true }
  | { overpaid: true }
  | { awaitsRate: true }
  | { next: 'paid'; liveMicro: bigint; reason?: Reason; late?: LateWorth }
  | { next: 'review' | 'refunded'; reason: Reason }

/**
 * Was it paid after its checkout had ended? By the provider's own time of it: when we hear of a
 * payment says nothing about its payer. A checkout without an end is one whose address nobody has.
 */
export const isLate = (
  { expiresAt }: Pick<PaymentFacts, 'expiresAt'>,
  { paidAt }: Pick<Charge, 'paidAt'>,
): boolean => expiresAt !== null && paidAt !== null && paidAt > expiresAt

/**
 * Decides about a succeeded payment for what we promised. The first one that fits is credited, less
 * what was refunded already; any other payment for the same promise is money a person has to give back.
 * What late money is worth needs the present rate; null: there is none.
 */
export function decideReceipt(
  payment: PaymentFacts,
  charge: Charge,
  presentMinorPerUsd: bigint | null = null,
): Receipt {
  const isTheFirst = payment.providerPaymentId === charge.paymentId
  if (isTheFirst && !awaitsRate(payment)) return { known: true }
  if (payment.providerPaymentId !== null && !isTheFirst) return { overpaid: true }
  if (!mayBecome(payment, 'paid')) return { overpaid: true }
  if (charge.senderVerification === 'failed') return { next: 'review', reason: 'sender_unverified' }
  if (charge.currency !== payment.currency) return { next: 'review', reason: 'currency_differs' }
  if (charge.paidMinor !== payment.fiatMinor) return { next: 'review', reason: 'amount_differs' }
  if (remainderFloor(payment) === 0n) return { next: 'refunded', reason: 'refunded_before_credit' }
  const isToBePriced = isLate(payment, charge)
  if (isToBePriced && presentMinorPerUsd === null) return { awaitsRate: true }
  const late =
    isToBePriced && presentMinorPerUsd ? lateWorthFloor(payment, presentMinorPerUsd) : undefined
  const liveMicro = remainderFloor({ ...payment, ...late })
  return {
    ...{ next: 'paid', liveMicro, ...(late ? { late } : {}) },
    ...(payment.refundedMinor > 0n ? { reason: 'refunded_in_part' } : {}),
  }
}

/** What to do about a payment after a step on the chain, or after a refund. */
export type Step =
  | { stay: true }
  | { next: 'held' | 'credited' | 'repaid' | 'revoked'; reason?: Reason }
  | { next: 'refunded'; reason: Reason }
  | { next: 'paid'; reason: Reason; remainderMicro: bigint }
  | { next: 'revoking'; reason: Reason }
  | { next: 'review'; reason: Reason }

const hasOpenRefund = ({ refundedMinor, refundAppliedMinor }: PaymentFacts) =>
  refundedMinor > refundAppliedMinor

/** What was ordered when it became `paid` is final on the chain. */
export function decideSettled(payment: PaymentFacts): Step {
  if (payment.state !== 'paid') return { stay: true }
  if (payment.held) {
    if (hasOpenRefund(payment)) return { next: 'revoking', reason: 'refunded_during_hold' }
    return { next: payment.kind === 'topup' ? 'held' : 'repaid' }
  }
  if (hasOpenRefund(payment)) return { next: 'review', reason: 'refunded_after_credit' }
  if (payment.overpaidMinor > 0n) return { next: 'review', reason: 'paid_twice' }
  return { next: payment.kind === 'topup' ? 'credited' : 'repaid' }
}

/** The relayer gave an order up. */
export function decideFailed(payment: PaymentFacts, order: 'credit' | 'repay' | 'revoke'): Step {
  const waiting = order === 'revoke' ? 'revoking' : 'paid'
  return payment.state === waiting ? { next: 'review', reason: `${order}_failed` } : { stay: true }
}

/** Its hold is over: nothing of it can be taken back on the chain any more. */
export function decideMatured(payment: PaymentFacts): Step {
  if (payment.overpaidMinor > 0n && ['held', 'repaid'].includes(payment.state))
    return { next: 'review', reason: 'paid_twice' }
  return payment.state === 'held' ? { next: 'credited' } : { stay: true }
}

/** All of it was taken back; what was not refunded is applied again. */
export function decideRevoked(payment: PaymentFacts): Step {
  if (payment.state !== 'revoking') return { stay: true }
  const remainderMicro = remainderFloor(payment)
  if (remainderMicro > 0n) return { next: 'paid', reason: 'refunded_in_part', remainderMicro }
  if (payment.overpaidMinor > 0n) return { next: 'review', reason: 'paid_twice' }
  return { next: 'revoked' }
}

/** A refund succeeded and is already counted in `refundedMinor`. */
export function decideRefunded(payment: PaymentFacts): Step {
  if (!hasOpenRefund(payment)) return { stay: true }
  switch (payment.state) {
    case 'held':
      return { next: 'revoking', reason: 'refunded_during_hold' }
    case 'repaid':
      return isOnHold(payment)
        ? { next: 'revoking', reason: 'refunded_during_hold' }
        : { next: 'review', reason: 'refunded_after_credit' }
    case 'credited':
      return { next: 'review', reason: 'refunded_after_credit' }
    default:
      return { stay: true } // Before the credit, or with it under way: decided when that ends.
  }
}

/** A second payment of the same promise arrived and is already counted in `overpaidMinor`. */
export function decideOverpaid(payment: PaymentFacts): Step {
  const busy =
    ['paid', 'held', 'revoking', 'review', 'refunding'].includes(payment.state) ||
    isOnHold(payment) ||
    awaitsRate(payment)
  return busy ? { stay: true } : { next: 'review', reason: 'paid_twice' }
}

/** The chain cannot take it back: never held, its hold is over, or revoking it was given up. */
const isBeyondRevoking = (payment: PaymentFacts) =>
  ['credited', 'repaid', 'review', 'accepted'].includes(payment.state) &&
  !(payment.state === 'repaid' && isOnHold(payment))

/**
 * AUSD (10⁻⁶, rounded up) that the wallet was given for money which was taken back when the chain
 * could not take it back any more; 0 while it can, or when nothing was given.
 */
export function lostMicro(payment: PaymentFacts): bigint {
  const given = payment.creditedAt !== null || payment.offsetMicro > 0n
  if (!given || !isBeyondRevoking(payment)) return 0n
  const { liveMicro, offsetMicro, waivedMicro } = payment
  const missing = liveMicro + offsetMicro - waivedMicro - remainderFloor(payment)
  return missing > 0n && hasOpenRefund(payment) ? missing : 0n
}

/**
 * What nobody has to make good of a refund that we ordered ourselves, when the chain can no longer
 * take it back: the changes to the payment, whose refunds now sum up to `refundedMinor`.
 */
export function waiverOf(payment: PaymentFacts, refundedMinor: bigint) {
  const given = payment.creditedAt !== null || payment.offsetMicro > 0n
  if (!given || !isBeyondRevoking(payment)) return {}
  const givenUp = remainderFloor(payment) - remainderFloor({ ...payment, refundedMinor })
  return {
    waivedMicro: payment.waivedMicro + givenUp,
    refundAppliedMinor: payment.refundAppliedMinor + (refundedMinor - payment.refundedMinor),
  }
}

/** For so long a checkout that could not be opened may be tried again: longer would be a free rate. */
export const reopenMaxMs = 600_000
const repeatOrderMaxMs = 600_000
const lateCheckMaxMs = 3_600_000
/** The provider repeats a webhook for a day; for as long we ask for late money ourselves. */
const lateMoneyMs = 86_400_000

type Quiet = {
  readonly state: PaymentState
  /** How often it was checked in this state. */
  readonly checks: number
  readonly createdAt: Date
  readonly expiresAt: Date | null
  /** On the chain, and still revocable there. */
  readonly onHold?: boolean
  readonly reason?: Reason | null
}

/** When to ask the authority about a payment that stays quiet; null when there is nothing to ask. */
export function nextCheck(quiet: Quiet, nowMs: number, sweepAfterMs: number): Date | null {
  const doubling = (maxMs: number) =>
    Math.min(maxMs, sweepAfterMs * 2 ** Math.min(quiet.checks, 20))
  switch (quiet.state) {
    case 'opening':
      return new Date(Math.max(nowMs, quiet.createdAt.getTime() + reopenMaxMs))
    case 'awaiting_payment':
      return new Date(nowMs + sweepAfterMs)
    case 'held':
    case 'repaid':
      // The first time at once: only the chain knows when the hold ends.
      return quiet.onHold ? new Date(nowMs + (quiet.checks === 0 ? 0 : sweepAfterMs)) : null
    case 'paid':
    case 'revoking':
      return new Date(nowMs + doubling(repeatOrderMaxMs))
    case 'refunding':
      // The first time at once: until then the provider has not been asked.
      return new Date(nowMs + (quiet.checks === 0 ? 0 : doubling(repeatOrderMaxMs)))
    case 'expired':
    case 'replaced': {
      if (awaitsRate(quiet)) return new Date(nowMs + doubling(repeatOrderMaxMs))
      const endsMs = quiet.expiresAt === null ? 0 : quiet.expiresAt.getTime() + lateMoneyMs
      const checkMs = nowMs + doubling(lateCheckMaxMs)
      return checkMs > endsMs ? null : new Date(checkMs)
    }
    default:
      return null
  }
}
