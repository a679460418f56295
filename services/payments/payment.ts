import { canBecome, type Lifecycle } from '#shared/lifecycle'
import type { Fiat } from '#shared/money/money'
import type { Limits } from '#shared/overdue'

export const paymentKinds = ['topup', 'settlement'] as const
export type PaymentKind = (typeof paymentKinds)[number]

export type TopupState =
  | 'opening'
  | 'awaiting_payment'
  | 'expired'
  | 'paid'
  | 'held'
  | 'credited'
  | 'revoking'
  | 'revoked'
  | 'refunded'
  | 'review'
  | 'refunding'
  | 'accepted'

/** `review` waits for a person; nothing leaves it on its own, but what an operator decides. */
export const topupLifecycle: Lifecycle<TopupState> = {
  // The provider may have opened a checkout whose answer we never saw, and it may be paid.
  opening: ['awaiting_payment', 'expired', 'paid', 'refunded', 'review'],
  awaiting_payment: ['paid', 'expired', 'refunded', 'review'],
  // A bank may settle a transfer after the checkout closed; we still owe the credit.
  expired: ['paid', 'refunded', 'review'],
  paid: ['credited', 'held', 'revoking', 'review'],
  held: ['credited', 'revoking', 'review'],
  // Refunded after the credit, or paid a second time.
  credited: ['review'],
  // What was not refunded is credited again.
  revoking: ['revoked', 'paid', 'review'],
  revoked: ['review'],
  // Refunded before any credit was ordered.
  refunded: ['review'],
  // An operator orders it, gives it back, or leaves it as it is.
  review: ['paid', 'refunding', 'accepted'],
  // A second payment that went back leaves the first as it was; a refund that failed, a person.
  refunding: ['refunded', 'credited', 'revoked', 'review'],
  accepted: ['review'], // Paid once more.
}

export type SettlementState =
  | 'opening'
  | 'awaiting_payment'
  | 'expired'
  | 'replaced'
  | 'paid'
  | 'repaid'
  | 'revoking'
  | 'revoked'
  | 'refunded'
  | 'review'
  | 'refunding'
  | 'accepted'

/**
 * Like a top-up, but money of a held channel repays at once: the contract keeps its value encumbered
 * until the hold ends, and until then a refund brings the debt back.
 */
export const settlementLifecycle: Lifecycle<SettlementState> = {
  opening: ['awaiting_payment', 'expired', 'replaced', 'paid', 'refunded', 'review'],
  awaiting_payment: ['paid', 'expired', 'replaced', 'refunded', 'review'],
  expired: ['paid', 'refunded', 'review'], // As for a top-up: late money is still their money.
  // Another checkout for the same debt was opened; a code already shown may still be paid.
  replaced: ['paid', 'refunded', 'review'],
  paid: ['repaid', 'revoking', 'review'],
  repaid: ['revoking', 'review'],
  revoking: ['revoked', 'paid', 'review'],
  revoked: ['review'],
  refunded: ['review'],
  review: ['paid', 'refunding', 'accepted'],
  refunding: ['refunded', 'repaid', 'revoked', 'review'],
  accepted: ['review'],
}

export type PaymentState = TopupState | SettlementState
export const paymentStates = [
  ...new Set([...Object.keys(topupLifecycle), ...Object.keys(settlementLifecycle)]),
] as PaymentState[]

const minuteMs = 60_000
/** A week, the longest hold that makes sense, and the day that it may be extended by. */
const holdMaxMs = 8 * 86_400_000
const noRate = { afterMs: 60 * minuteMs, alarm: 'late money waits too long for an exchange rate' }
const noEnd = { afterMs: holdMaxMs, alarm: 'hold does not end' }

/** How long a payment may be in a state. What is awaited in it: `awaited` in `activity.store.ts`. */
export const limits: Limits<PaymentState> = {
  opening: { afterMs: 30 * minuteMs, alarm: 'checkout is being opened for too long' },
  // From the end of the checkout on.
  awaiting_payment: { afterMs: 60 * minuteMs, alarm: 'nobody says how a checkout has ended' },
  // Only with money that waits for a rate; without, nothing is owed.
  expired: noRate,
  replaced: noRate,
  paid: { afterMs: 10 * minuteMs, alarm: 'payment is not put on the chain' },
  held: noEnd,
  repaid: noEnd, // Only within its hold.
  revoking: { afterMs: 10 * minuteMs, alarm: 'payment is not taken back on the chain' },
  credited: { rests: 'the collateral is theirs' },
  revoked: { rests: 'the money went back, and so did the AUSD' },
  refunded: { rests: 'the money went back, and no AUSD was given' },
  review: { rests: 'a person was called when it came to this' },
  refunding: { afterMs: 24 * 60 * minuteMs, alarm: 'refund does not end at the provider' },
  accepted: { rests: 'an operator left it as it is' },
}

/** May this payment take this step? One table per kind. */
export function mayBecome({ kind, state }: Pick<PaymentFacts, 'kind' | 'state'>, to: PaymentState) {
  const table = kind === 'topup' ? topupLifecycle : settlementLifecycle
  return state in table && canBecome<string>(table as never, state, to)
}

/** Why a payment is in its state. The texts a user reads are in `words.ts`. */
export const reasons = [
  'awaiting_rate',
  'amount_differs',
  'currency_differs',
  'sender_unverified',
  'paid_twice',
  'second_refunded',
  'replaced',
  'made_good',
  'refunded_before_credit',
  'refunded_in_part',
  'refunded_during_hold',
  'refunded_after_credit',
  'credit_failed',
  'repay_failed',
  'revoke_failed',
] as const
export type Reason = (typeof reasons)[number]

/** What decisions are made from: a payment as we promised it. Amounts in the currency's smallest unit. */
export type PaymentFacts = {
  readonly kind: PaymentKind
  readonly state: PaymentState
  readonly currency: Fiat
  readonly fiatMinor: bigint
  readonly rateMinorPerUsd: bigint
  /** 10⁻⁶ AUSD of the whole payment; of money that came late, what it was found to be worth. */
  readonly ausdMicro: bigint
  /** When its checkout ends or ended; null before there is one. */
  readonly expiresAt: Date | null
  readonly reason?: Reason | null
  readonly providerPaymentId: string | null
  /** Paid by a channel whose money can be taken back; null until it is known. */
  readonly held: boolean | null
  /** What is now under its ref on the chain, or ordered to be: 10⁻⁶ AUSD. */
  readonly liveMicro: bigint
  /** Kept by the treasury to make good what was taken back before: 10⁻⁶ AUSD. */
  readonly offsetMicro: bigint
  /** When it was final on the chain; null before. */
  readonly creditedAt: Date | null
  /** When nothing of it could be taken back on the chain any more; null before, or if never held. */
  readonly holdEndedAt: Date | null
  readonly refundedMinor: bigint
  /** How much of `refundedMinor` is taken off `liveMicro` already. */
  readonly refundAppliedMinor: bigint
  /** Given up by us: of refunds that we ordered after the credit, 10⁻⁶ AUSD. */
  readonly waivedMicro: bigint
  readonly overpaidMinor: bigint
}

/** The money came late, and there was no rate to say what it is worth. */
export const awaitsRate = ({ reason }: Pick<PaymentFacts, 'reason'>): boolean =>
  reason === 'awaiting_rate'

/**
 * What its money was for is done: it is on the chain, or all of it made good an earlier loss. What
 * could not be put on the chain is not.
 */
export const wasGiven = ({ creditedAt, offsetMicro, liveMicro }: GivenFacts): boolean =>
  creditedAt !== null || (offsetMicro > 0n && liveMicro === 0n)
type GivenFacts = Pick<PaymentFacts, 'creditedAt' | 'offsetMicro' | 'liveMicro'>

/** On the chain, and still revocable there. */
export const isOnHold = ({ held, creditedAt, holdEndedAt }: HoldFacts): boolean =>
  held === true && creditedAt !== null && holdEndedAt === null
type HoldFacts = Pick<PaymentFacts, 'held' | 'creditedAt' | 'holdEndedAt'>

/** What is left of a payment (10⁻⁶ AUSD, rounded down) after its refunds. */
export const remainderFloor = ({ ausdMicro, fiatMinor, refundedMinor }: RemainderFacts): bigint =>
  refundedMinor >= fiatMinor ? 0n : (ausdMicro * (fiatMinor - refundedMinor)) / fiatMinor
type RemainderFacts = Pick<PaymentFacts, 'ausdMicro' | 'fiatMinor' | 'refundedMinor'>

/** What its ref on the chain is made from: a remainder is applied under a ref of its own. */
export const refIdOf = ({ id, part }: { id: string; part: number }): string =>
  part === 0 ? id : `${id}.${part}`

/** The payment and the part that a ref id names. Undefined for anybody else's. */
export function parseRefId(refId: string): { id: string; part: number } | undefined {
  const [id = '', part = '0', ...more] = refId.split('.')
  if (paymentIdFrom(id) !== id || !/^[0-9]{1,4}$/.test(part) || more.length > 0) return undefined
  return { id, part: Number(part) }
}

const idLength = 26

/**
 * Our payment id out of the provider's reference: equal to it, or followed by `_` and the attempt,
 * as the provider's sample of a card payment shows. Undefined for anybody else's reference.
 */
export function paymentIdFrom(reference: string): string | undefined {
  const id = reference.slice(0, idLength)
  if (!/^pay_[A-Za-z0-9_-]{22}$/.test(id)) return undefined
  return reference.length === idLength || reference[idLength] === '_' ? id : undefined
}

const orderedPrefix = 'ordered-'

/** Our reference on the refund of a payment that we order, the first being 1. */
export const orderedReference = (id: string, number: number): string =>
  `${orderedPrefix}${id}_${number}`

/**
 * Did we order this refund ourselves? Then its reference is `ordered-<payment id>`, or that and a
 * number: the loss is ours, and no wallet is frozen for it.
 */
export const isOrderedByUs = (reference: string | null): boolean =>
  reference?.startsWith(orderedPrefix) === true &&
  paymentIdFrom(reference.slice(orderedPrefix.length)) !== undefined
