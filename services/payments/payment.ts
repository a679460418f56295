import { canBecome } from '#shared/lifecycle'
import type { Fiat } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'
import { type SettlementState, settlementLifecycle } from './settlement'
import { type TopupState, topupLifecycle } from './topup'

export const paymentKinds = ['topup', 'settlement'] as const
export type PaymentKind = (typeof paymentKinds)[number]

export type PaymentState = TopupState | SettlementState
export const paymentStates = [
  ...new Set([...Object.keys(topupLifecycle), ...Object.keys(settlementLifecycle)]),
] as PaymentState[]

/** Why a payment is where it is. The texts a user reads stand in `activity.ts`. */
export const reasons = [
  'amount_differs',
  'currency_differs',
  'paid_twice',
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

/** What the decisions look at: a payment as we promised it. Amounts in the currency's smallest unit. */
export type PaymentFacts = {
  readonly kind: PaymentKind
  readonly state: PaymentState
  readonly currency: Fiat
  readonly fiatMinor: bigint
  /** 10⁻⁶ AUSD of the whole payment. */
  readonly ausdMicro: bigint
  readonly providerPaymentId: string | null
  /** Paid by a channel whose money can be taken back; null until it is known. */
  readonly held: boolean | null
  /** What is now under its ref on the chain, or ordered to be: 10⁻⁶ AUSD. */
  readonly liveMicro: bigint
  /** Kept by the treasury to make good what was taken back before: 10⁻⁶ AUSD. */
  readonly offsetMicro: bigint
  /** When the chain had it, finally; null before. */
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

/** On the chain, and still revocable there. */
export const isOnHold = ({ held, creditedAt, holdEndedAt }: HoldFacts): boolean =>
  held === true && creditedAt !== null && holdEndedAt === null
type HoldFacts = Pick<PaymentFacts, 'held' | 'creditedAt' | 'holdEndedAt'>

/** What is left of a payment (10⁻⁶ AUSD, rounded down) after its refunds. */
export const remainderFloor = ({ ausdMicro, fiatMinor, refundedMinor }: RemainderFacts): bigint =>
  refundedMinor >= fiatMinor ? 0n : (ausdMicro * (fiatMinor - refundedMinor)) / fiatMinor
type RemainderFacts = Pick<PaymentFacts, 'ausdMicro' | 'fiatMinor' | 'refundedMinor'>

/** A payment that the provider says succeeded. `paidMinor` is null when its number is not exact. */
export type Charge = {
  readonly account: ProviderAccount
  readonly paymentId: string
  readonly paymentRequestId: string | null
  readonly reference: string
  readonly currency: string
  readonly paidMinor: bigint | null
  readonly channel: string
  readonly paidAt: Date | null
}

/** May this payment take this step? One table per kind. */
export function mayBecome({ kind, state }: Pick<PaymentFacts, 'kind' | 'state'>, to: PaymentState) {
  const table = kind === 'topup' ? topupLifecycle : settlementLifecycle
  return state in table && canBecome<string>(table as never, state, to)
}

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
