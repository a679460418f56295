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
  readonly providerPaymentId: string | null
  readonly held: boolean | null
  readonly refundedMinor: bigint
  readonly overpaidMinor: bigint
}

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
