import { backoffMs } from '#platform/backoff'
import type { ChannelKind } from '#shared/messages/activity'
import {
  atLeastZero,
  awaitsRate,
  type BackFacts,
  beyondCeil,
  isOnHold,
  least,
  mayBecome,
  most,
  needsHold,
  type PaymentFacts,
  type PaymentKind,
  type PaymentState,
  type Reason,
  remainderFloor,
  states,
  wasCredited,
} from './payment'
import { chargeFee, lateWorthFloor } from './price'
import type { Charge } from './provider'

/** Returns true if payments through the channel can be reversed, which is so for all but bank transfer and QR. */
// guard: reversible payments are held, and so are those of unknown channels
export const isHeld = (kind: ChannelKind): boolean => kind !== 'bank' && kind !== 'qr'

type LateWorth = NonNullable<ReturnType<typeof lateWorthFloor>>

/** Part of a charge that counts for its payment, and the refunds of it. Fiat is in smallest units. */
export type Counted = {
  readonly fiatMinor: bigint
  readonly feeMinor: bigint
  readonly ausdMicro: bigint
  readonly refundedMinor: bigint
  /** Original promise, of a settlement that is applied in part or of a top-up with a fee (10⁻⁶ AUSD); null if it is kept. */
  readonly promisedMicro: bigint | null
  /** Amount of the charge beyond this part. An operator decides about it, as about a second charge. */
  readonly restMinor: bigint
  /** Refunds of the rest, for which the refunds of the charge count first. */
  readonly restRefundedMinor: bigint
}

export type Receipt =
  | { known: true }
  | { overpaid: true }
  | { awaitsRate: true }
  | { next: 'paid'; onchainMicro: bigint; counted: Counted; reason?: Reason; late?: LateWorth }
  | { next: 'review' | 'refunded'; reason: Reason }

/**
 * Returns true if the payment was paid after its checkout ended, by the provider's timestamp. A checkout
 * without an end was never shown, so its payment is never late.
 */
export const isLate = ({ expiresAt }: Pick<PaymentFacts, 'expiresAt'>, { paidAt }: Pick<Charge, 'paidAt'>): boolean =>
  expiresAt !== null && paidAt !== null && paidAt > expiresAt

/**
 * Counts `fiatMinor`, worth `ausdMicro` after the fee, of a charge that paid `paidMinor`; the rest waits for an operator.
 */
function countedPart(
  payment: Pick<PaymentFacts, 'ausdMicro' | 'refundedMinor'>,
  part: { paidMinor: bigint; fiatMinor: bigint; feeMinor?: bigint; ausdMicro: bigint },
): Counted {
  const { paidMinor, fiatMinor, feeMinor = 0n, ausdMicro } = part
  const restMinor = atLeastZero(paidMinor - fiatMinor)
  const refundedMinor = atLeastZero(payment.refundedMinor - restMinor)
  return {
    fiatMinor,
    feeMinor,
    ausdMicro,
    refundedMinor,
    promisedMicro: ausdMicro === payment.ausdMicro ? null : payment.ausdMicro,
    restMinor,
    restRefundedMinor: payment.refundedMinor - refundedMinor,
  }
}

/**
 * Returns the part of a charge that counts, or undefined if the charge needs manual review. A top-up counts only if exactly
 * its amount was paid. The term of a debt goes on while money for it waits, so of a settlement everything counts that repays
 * its debt without doubt.
 */
export function countedOf(
  payment: PaymentFacts,
  { paidMinor, channelKind }: Pick<Charge, 'paidMinor' | 'channelKind'>,
): Counted | undefined {
  const { kind, fiatMinor, ausdMicro } = payment
  // guard: a payment with another amount needs manual review
  if (paidMinor === null || (kind === 'topup' && paidMinor !== fiatMinor)) return undefined
  // guard: a top-up pays the fee of the channel that was charged
  if (kind === 'topup') return countedPart(payment, { paidMinor, fiatMinor, ...chargeFee(payment, channelKind) })
  if (paidMinor >= fiatMinor) return countedPart(payment, { paidMinor, fiatMinor, ausdMicro })
  const worthMicro = (ausdMicro * paidMinor) / fiatMinor
  return worthMicro === 0n
    ? undefined
    : countedPart(payment, { paidMinor, fiatMinor: paidMinor, ausdMicro: worthMicro })
}

/**
 * Reduces a settlement to the debt that is still owed (`owedMicro`, 10⁻⁶ AUSD): the rest, which may not become collateral,
 * waits for an operator. A settlement that gives less than is owed stays as it is. Returns undefined if nothing is owed.
 */
export function reducedTo(
  receipt: Extract<Receipt, { next: 'paid' }>,
  owedMicro: bigint,
): Extract<Receipt, { next: 'paid' }> | undefined {
  if (owedMicro === 0n) return undefined
  const { onchainMicro, counted, late } = receipt
  // guard: a settlement repays no more of a debt than was paid
  if (owedMicro >= onchainMicro) return receipt
  const { fiatMinor, refundedMinor, restMinor, restRefundedMinor } = counted
  const promisedMicro = counted.promisedMicro ?? late?.promisedMicro ?? counted.ausdMicro
  const leftMinor = fiatMinor - refundedMinor
  const neededMinor = (leftMinor * owedMicro + onchainMicro - 1n) / onchainMicro
  const before = { ausdMicro: promisedMicro, refundedMinor: refundedMinor + restRefundedMinor }
  const part = { paidMinor: fiatMinor + restMinor, fiatMinor: neededMinor, ausdMicro: owedMicro }
  return { ...receipt, onchainMicro: owedMicro, counted: countedPart(before, part), reason: 'overpaid' }
}

/**
 * Longest wait of a late settlement for a rate, in ms. The borrower knows within a day, and the contract takes the time of
 * payment for a week.
 */
const rateWaitMaxMs = 20 * 3_600_000

/**
 * Returns the rate of late money if the current rate cannot be read: null to wait, or that of its quote if the debt would
 * count as repaid later than it was.
 */
export function rateUnread(
  { kind, rateMinorPerUsd }: { kind: PaymentKind; rateMinorPerUsd: bigint },
  { paidAt }: Pick<Charge, 'paidAt'>,
  nowMs: number,
): bigint | null {
  const waitsTooLong = paidAt !== null && nowMs - paidAt.getTime() > rateWaitMaxMs
  return kind === 'settlement' && waitsTooLong ? rateMinorPerUsd : null
}

/**
 * Credits the first charge that matches the promise, less its refunds; a further charge is for an operator to
 * refund. Late money needs `presentMinorPerUsd`, the current rate, which is null if it could not be read.
 */
export function decideReceipt(
  payment: PaymentFacts,
  charge: Charge,
  presentMinorPerUsd: bigint | null = null,
): Receipt {
  const isTheFirst = payment.providerPaymentId === charge.paymentId
  // guard: a counted charge is not counted again
  if (isTheFirst && !awaitsRate(payment)) return { known: true }
  // guard: a second payment for the same top-up is not credited
  if (payment.providerPaymentId !== null && !isTheFirst) return { overpaid: true }
  if (!mayBecome(payment, 'paid')) return { overpaid: true }
  // guard: money of an unverified sender needs manual review
  if (charge.senderVerification === 'failed') return { next: 'review', reason: 'sender_unverified' }
  // guard: a payment in another currency needs manual review
  if (charge.currency !== payment.currency) return { next: 'review', reason: 'currency_differs' }
  const counted = countedOf(payment, charge)
  if (!counted) return { next: 'review', reason: 'amount_differs' }
  const part = { ...payment, ...counted }
  // guard: a payment refunded before its credit is not credited
  if (remainderFloor(part) === 0n) return { next: 'refunded', reason: 'refunded_before_credit' }
  // guard: a late payment is credited at no better than the current rate
  const isToBePriced = isLate(payment, charge)
  if (isToBePriced && presentMinorPerUsd === null) return { awaitsRate: true }
  const late = isToBePriced && presentMinorPerUsd ? lateWorthFloor(part, presentMinorPerUsd) : undefined
  const reason = reasonOf(payment, counted)
  return {
    next: 'paid',
    onchainMicro: remainderFloor({ ...part, ...late }),
    counted: late ? { ...counted, ausdMicro: late.ausdMicro } : counted,
    ...(late ? { late } : {}),
    ...(reason ? { reason } : {}),
  }
}

function reasonOf(payment: PaymentFacts, { fiatMinor, refundedMinor, restMinor }: Counted): Reason | undefined {
  if (restMinor > 0n) return 'overpaid'
  if (fiatMinor < payment.fiatMinor) return 'amount_differs'
  return refundedMinor > 0n ? 'refunded_in_part' : undefined
}

export type Step =
  | { stay: true }
  | { next: 'held' | 'credited' | 'repaid' | 'revoked' | 'accepted'; reason?: Reason }
  | { next: 'refunded'; reason: Reason }
  | { next: 'paid'; reason: Reason; remainderMicro: bigint }
  | { next: 'revoking'; reason: Reason; leftMicro: bigint }
  /** `undone`: nothing of the payment is on the chain, so an operator may credit or refund it. */
  | { next: 'review'; reason: Reason; undone?: true }

/** Returns the reason of a payment with money beyond its promise: of its own charge, or of a second one. */
const moreThanPromised = ({ reason }: PaymentFacts): Reason => (reason === 'overpaid' ? reason : 'paid_twice')

/** Returns true if money beyond the promise is left, which waits for an operator. */
export const hasSecondLeft = ({
  overpaidMinor,
  overpaidRefundedMinor,
}: Pick<PaymentFacts, 'overpaidMinor' | 'overpaidRefundedMinor'>): boolean => overpaidMinor > overpaidRefundedMinor

const hasOpenRefund = ({ refundedMinor, refundAppliedMinor }: PaymentFacts) => refundedMinor > refundAppliedMinor
/** Returns true if part of a refund that was already deducted has come back to us. */
const hasLapsedRefund = ({ refundedMinor, refundAppliedMinor }: PaymentFacts) => refundedMinor < refundAppliedMinor

/**
 * Revokes the part that went back. The contract can only take back, so if we hold more money than the chain
 * shows, it revokes everything, and the remainder is applied again.
 */
function revocation(payment: PaymentFacts): Step {
  const leftMicro = remainderFloor(payment)
  return leftMicro > payment.onchainMicro
    ? { next: 'revoking', reason: 'refund_undone', leftMicro: 0n }
    : { next: 'revoking', reason: 'refunded_during_hold', leftMicro }
}

export function decideSettled(payment: PaymentFacts): Step {
  if (payment.state !== 'paid') return { stay: true }
  if (payment.held) {
    if (hasOpenRefund(payment) || hasLapsedRefund(payment)) return revocation(payment)
    return { next: payment.kind === 'topup' ? 'held' : 'repaid' }
  }
  if (hasOpenRefund(payment)) return { next: 'review', reason: 'refunded_after_credit' }
  if (hasLapsedRefund(payment)) return { next: 'review', reason: 'refund_undone' }
  if (hasSecondLeft(payment)) return { next: 'review', reason: moreThanPromised(payment) }
  return { next: payment.kind === 'topup' ? 'credited' : 'repaid' }
}

export function decideFailed(payment: PaymentFacts, order: 'credit' | 'repay' | 'revoke'): Step {
  const waiting = order === 'revoke' ? 'revoking' : 'paid'
  return payment.state === waiting ? { next: 'review', reason: `${order}_failed` } : { stay: true }
}

export function decideMatured(payment: PaymentFacts): Step {
  if (hasSecondLeft(payment) && ['held', 'repaid'].includes(payment.state))
    return { next: 'review', reason: moreThanPromised(payment) }
  return payment.state === 'held' ? { next: 'credited' } : { stay: true }
}

/**
 * Decides after a revocation: `onchainMicro` is left and stays on hold, unless more money has gone back or
 * come back since.
 */
export function decideRevoked(payment: PaymentFacts): Step {
  const { state, kind, onchainMicro } = payment
  if (state !== 'revoking') return { stay: true }
  const remainderMicro = remainderFloor(payment)
  if (onchainMicro > 0n && onchainMicro !== remainderMicro) return revocation(payment)
  if (onchainMicro > 0n) return { next: kind === 'topup' ? 'held' : 'repaid', reason: 'refunded_in_part' }
  const reason = payment.refundedMinor > 0n ? 'refunded_in_part' : 'refund_undone'
  if (remainderMicro > 0n) return { next: 'paid', reason, remainderMicro }
  if (hasSecondLeft(payment)) return { next: 'review', reason: moreThanPromised(payment) }
  return { next: 'revoked' }
}

/** Decides after a change of `refundedMinor` in either direction. */
export function decideRefunded(payment: PaymentFacts & { readonly paidMinor?: bigint | null }): Step {
  if (hasLapsedRefund(payment)) return decideLapsed(payment)
  if (!hasOpenRefund(payment)) return decideHealed(payment)
  if (awaitsRate(payment) && isAllBack(payment)) return { next: 'refunded', reason: 'refunded_before_credit' }
  switch (payment.state) {
    case 'held':
      return revocation(payment)
    case 'repaid':
      return isOnHold(payment) ? revocation(payment) : { next: 'review', reason: 'refunded_after_credit' }
    case 'credited':
      return { next: 'review', reason: 'refunded_after_credit' }
    default:
      return { stay: true } // A relayer order is in progress; the decision follows when it ends.
  }
}

/** Returns true if nothing is left of what was paid, or of the amount that counts. */
const isAllBack = (payment: PaymentFacts & { readonly paidMinor?: bigint | null }): boolean =>
  remainderFloor(payment) === 0n || payment.refundedMinor >= (payment.paidMinor ?? payment.fiatMinor)

/** Decides after money came back to us whose value had been taken back, or was never credited. */
function decideLapsed(payment: PaymentFacts & { readonly paidMinor?: bigint | null }): Step {
  const { state, paidMinor, fiatMinor } = payment
  const reason = 'refund_undone'
  if (state !== 'revoking' && needsHold(payment)) return revocation(payment)
  if (state === 'credited' || state === 'repaid') return { next: 'review', reason }
  // An operator has accepted it without this money, whose AUSD was revoked.
  if (state === 'accepted' && wasCredited(payment)) return { next: 'review', reason }
  if (state !== 'revoked' && state !== 'refunded' && state !== 'accepted') return { stay: true }
  const differs = (paidMinor ?? fiatMinor) !== fiatMinor
  return { next: 'review', reason: differs ? 'amount_differs' : reason, undone: true }
}

/**
 * Decides about a payment in review, or accepted, because of a refund that did not take place in the end, or that took place
 * again.
 */
function decideHealed(payment: PaymentFacts): Step {
  const { state, reason, kind, onchainMicro, recoveredMicro } = payment
  if (hasSecondLeft(payment) || !wasCredited(payment)) return { stay: true }
  const leftMicro = remainderFloor(payment)
  const next = kind === 'topup' ? 'credited' : 'repaid'
  if (state === 'review' && reason === 'refund_undone')
    return onchainMicro + recoveredMicro >= leftMicro ? { next, reason: 'refunded_in_part' } : { stay: true }
  const isTopupAgain = state === 'accepted' && kind === 'topup' && leftMicro > 0n
  if ((state !== 'review' && !isTopupAgain) || reason !== 'refunded_after_credit') return { stay: true }
  // A refund that we ordered took it all, and a doubt about the same money is over.
  return leftMicro === 0n ? { next: 'accepted', reason } : { next, reason: 'refund_undone' }
}

export function decideOverpaid(payment: PaymentFacts): Step {
  const busy =
    ['paid', 'held', 'revoking', 'review', 'refunding'].includes(payment.state) ||
    isOnHold(payment) ||
    awaitsRate(payment)
  return busy ? { stay: true } : { next: 'review', reason: 'paid_twice' }
}

/**
 * Returns true if the chain cannot reverse the payment: it was never held, its hold ended, or its revocation
 * was abandoned.
 */
const isBeyondRevoking = (payment: PaymentFacts) =>
  ['credited', 'repaid', 'review', 'refunding', 'accepted'].includes(payment.state) &&
  !(payment.state === 'repaid' && isOnHold(payment))

/** Returns true if its order waits and what it gives is never on hold. */
const isOrderedForGood = ({ state, held }: Pick<PaymentFacts, 'state' | 'held'>): boolean =>
  state === 'paid' && held === false

/**
 * Returns the loss of a payment: the AUSD given for money that was reversed after the chain could no longer
 * reverse the credit, and the value of the money that went back beyond the payment (10⁻⁶ AUSD, rounded up).
 */
export function lostMicro(payment: PaymentFacts & BackFacts): bigint {
  const beyondMicro = beyondCeil(payment)
  if (!isBeyondRevoking(payment)) return beyondMicro
  return beyondMicro + atLeastZero(unpaidMicro(payment) - payment.writtenOffMicro)
}

/**
 * Returns the AUSD given for the payment, or ordered so that nothing can take it back, beyond the value left of it
 * (10⁻⁶ AUSD).
 */
export const unpaidMicro = (payment: PaymentFacts): bigint => atLeastZero(givenMicro(payment) - remainderFloor(payment))

/** Returns the AUSD given for the payment, or ordered for good (10⁻⁶ AUSD). An order that failed gave nothing. */
function givenMicro(payment: PaymentFacts): bigint {
  const { creditedAt, onchainMicro, recoveredMicro } = payment
  return (creditedAt === null && !isOrderedForGood(payment) ? 0n : onchainMicro) + recoveredMicro
}

/**
 * Returns the change that waives the refunds which we ordered after the chain could no longer reverse the payment; it is
 * empty for any other payment. They went back in `fromMinor` before and `toMinor` now. What is waived is their own value:
 * a dispute of the same money may have taken it before them, and may be won after them.
 */
export function waiverOf(payment: PaymentFacts, fromMinor: bigint, toMinor: bigint) {
  const wasGiven = payment.creditedAt !== null || payment.recoveredMicro > 0n
  if (!(wasGiven && isBeyondRevoking(payment)) && !isOrderedForGood(payment)) return {}
  const { ausdMicro, fiatMinor, refundedMinor, refundAppliedMinor, writtenOffMicro } = payment
  const leftAfter = (orderedMinor: bigint) => remainderFloor({ ausdMicro, fiatMinor, refundedMinor: orderedMinor })
  if (toMinor > fromMinor) {
    // The AUSD of a part was revoked before, for an earlier refund that failed.
    const lapsedMicro = atLeastZero(remainderFloor(payment) - givenMicro(payment))
    const lapsedMinor = atLeastZero(refundAppliedMinor - refundedMinor)
    return {
      writtenOffMicro: writtenOffMicro + atLeastZero(leftAfter(fromMinor) - leftAfter(toMinor) - lapsedMicro),
      refundAppliedMinor: refundAppliedMinor + atLeastZero(toMinor - fromMinor - lapsedMinor),
    }
  }
  // Only what was waived is owed again. AUSD that was revoked for one of these refunds is credited again.
  const waivedMinor = fiatOfNearest(payment, writtenOffMicro)
  // What we ordered beyond the payment was never waived.
  const excessMinor = atLeastZero(fromMinor - most(toMinor, fiatMinor))
  const endedMinor = least(fromMinor - toMinor - excessMinor, waivedMinor)
  const endedMicro = leftAfter(fromMinor - endedMinor) - leftAfter(fromMinor)
  return {
    writtenOffMicro: endedMinor === waivedMinor ? 0n : atLeastZero(writtenOffMicro - endedMicro),
    refundAppliedMinor: atLeastZero(refundAppliedMinor - endedMinor - excessMinor),
  }
}

/** Returns what stays waived: no more than was given beyond the value left of the payment (10⁻⁶ AUSD). */
export const waivedMicro = (payment: PaymentFacts): bigint => least(payment.writtenOffMicro, unpaidMicro(payment))

/**
 * Returns the change that ends a waiver of more than is missing; it is empty for any other payment. If AUSD was revoked for a
 * refund that failed since, the refunds that we ordered took its place.
 */
export function needlessWaiverOf(payment: PaymentFacts) {
  const writtenOffMicro = waivedMicro(payment)
  const endedMicro = payment.writtenOffMicro - writtenOffMicro
  if (endedMicro === 0n) return {}
  const refundAppliedMinor = atLeastZero(payment.refundAppliedMinor - fiatOfNearest(payment, endedMicro))
  return { writtenOffMicro, refundAppliedMinor }
}

/** Returns the fiat that AUSD (10⁻⁶) stands for at the rate of a payment, in smallest units, rounded to the nearest. */
const fiatOfNearest = (
  { fiatMinor, ausdMicro }: Pick<PaymentFacts, 'fiatMinor' | 'ausdMicro'>,
  micro: bigint,
): bigint => (micro * fiatMinor + ausdMicro / 2n) / ausdMicro

/**
 * Time for which a failed checkout may be retried, in ms. Retrying longer at the locked rate would be a free
 * option.
 */
export const reopenMaxMs = 600_000
const repeatOrderMaxMs = 600_000
/** Longest interval between two checks of a payment, in ms. */
export const checkMaxMs = 3_600_000
/**
 * Time after its end during which an unpaid checkout is checked, in ms. The provider retries webhooks for a
 * day too.
 */
const lateMoneyMs = 86_400_000

type Quiet = {
  readonly state: PaymentState
  readonly checks: number
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly onHold?: boolean
  readonly reason?: Reason | null
}

/** Returns the time of the next check, or null if there is nothing to check. */
export function nextCheck(quiet: Quiet, nowMs: number, recheckAfterMs: number): Date | null {
  const doubling = (maxMs: number) => backoffMs({ firstMs: recheckAfterMs, maxMs }, quiet.checks)
  switch (quiet.state) {
    case 'opening':
      return new Date(Math.max(nowMs, quiet.createdAt.getTime() + reopenMaxMs))
    case 'held':
    case 'repaid':
      // The first check is due immediately, because only the chain knows when the hold ends.
      return quiet.onHold ? new Date(nowMs + (quiet.checks === 0 ? 0 : recheckAfterMs)) : null
    case 'revoking':
      // The first check is due immediately, because the hold must not end before the revocation is final.
      if (quiet.onHold && quiet.checks === 0) return new Date(nowMs)
      return new Date(nowMs + doubling(repeatOrderMaxMs))
    case 'paid':
      return new Date(nowMs + doubling(repeatOrderMaxMs))
    case 'refunding':
      // The first check is due immediately, because it makes the first request to the provider.
      return new Date(nowMs + (quiet.checks === 0 ? 0 : doubling(repeatOrderMaxMs)))
    case 'expired':
    case 'replaced': {
      if (awaitsRate(quiet)) return new Date(nowMs + doubling(repeatOrderMaxMs))
      const endsMs = quiet.expiresAt === null ? 0 : quiet.expiresAt.getTime() + lateMoneyMs
      const checkMs = nowMs + doubling(checkMaxMs)
      return checkMs > endsMs ? null : new Date(checkMs)
    }
    default:
      // Unpaid checkouts may still be paid, so the provider is asked; other payments are finished or wait for
      // an operator.
      return states[quiet.state].unpaid ? new Date(nowMs + recheckAfterMs) : null
  }
}
