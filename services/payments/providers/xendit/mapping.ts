import type { Fiat } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'
import { fromProviderAmount, type ProviderNumber, toProviderAmount } from '#shared/provider/amount'
import type {
  ChargeStatus,
  Checkout,
  CheckoutOrder,
  CheckoutStatus,
  FetchedCharge,
  FetchedRefund,
  RefundStatus,
} from '../../provider'
import { channelKind } from './channel'
import type { WirePayment, WireRefund, WireSession } from './wire'

const checkoutStatuses: ReadonlyMap<string, CheckoutStatus> = new Map([
  ['ACTIVE', 'open'],
  ['PENDING', 'open'],
  ['COMPLETED', 'completed'],
  ['EXPIRED', 'closed'],
  ['CANCELED', 'closed'],
])
const chargeStatuses: ReadonlyMap<string, ChargeStatus> = new Map([
  ['SUCCEEDED', 'succeeded'],
  ['AUTHORIZED', 'pending'],
  ['PENDING', 'pending'],
  ['FAILED', 'dead'],
  ['EXPIRED', 'dead'],
  ['CANCELED', 'dead'],
])
const refundStatuses: ReadonlyMap<string, RefundStatus> = new Map([
  ['PENDING', 'pending'],
  ['SUCCEEDED', 'succeeded'],
  ['FAILED', 'dead'],
  ['CANCELLED', 'dead'],
])
const currencies: ReadonlyMap<string, Fiat> = new Map([
  ['IDR', 'IDR'],
  ['MYR', 'MYR'],
])

/** The body of `POST /sessions`. */
export const sessionRequest = (order: CheckoutOrder, appUrl: string) => ({
  reference_id: order.reference,
  session_type: 'PAY',
  mode: 'PAYMENT_LINK',
  country: order.account,
  currency: order.fiat.currency,
  amount: toProviderAmount(order.fiat),
  capture_method: 'AUTOMATIC',
  ...(order.cardsOnly ? { allowed_payment_channels: ['CARDS'] } : {}),
  expires_at: order.expiresAt.toISOString(),
  locale: order.account === 'ID' ? 'id' : 'en',
  description: order.description,
  // At most 20 entries of 80 characters: the stricter of the two limits that are documented.
  metadata: order.promised,
  success_return_url: appUrl,
  cancel_return_url: appUrl,
})

export const checkoutFrom = (wire: WireSession): Checkout => ({
  checkoutId: wire.payment_session_id,
  reference: wire.reference_id,
  status: checkoutStatuses.get(wire.status) ?? 'unknown',
  checkoutUrl: wire.payment_link_url ?? null,
  expiresAt: dateFrom(wire.expires_at),
  paymentRequestId: wire.payment_request_id ?? null,
  paymentId: wire.payment_id ?? null,
})

/** What was collected: the sum of the captures; a payment without any is taken at its request. */
export function chargeFrom(account: ProviderAccount, wire: WirePayment): FetchedCharge {
  const captures = wire.captures ?? []
  const numbers =
    captures.length > 0 ? captures.map((c) => c.capture_amount) : [wire.request_amount]
  // Never `updated`: a later change of the object would make a payment late that was not.
  const paidAt = earliest(captures.map((one) => one.capture_timestamp)) ?? wire.created
  return {
    status: chargeStatuses.get(wire.status) ?? 'unknown',
    charge: {
      account,
      paymentId: wire.payment_id,
      paymentRequestId: wire.payment_request_id ?? null,
      reference: wire.reference_id,
      currency: wire.currency,
      paidMinor: sumOf(numbers, wire.currency),
      channel: wire.channel_code,
      channelKind: channelKind(wire.channel_code),
      paidAt: dateFrom(paidAt),
    },
  }
}

export const refundFrom = (wire: WireRefund): FetchedRefund => ({
  refundId: wire.id,
  status: refundStatuses.get(wire.status) ?? 'unknown',
  paymentId: wire.payment_id ?? null,
  paymentRequestId: wire.payment_request_id ?? null,
  reference: wire.reference_id ?? null,
  currency: wire.currency,
  refundedMinor: sumOf([wire.amount], wire.currency),
})

/** Null when one of them is not exact in this currency, or when we do not know the currency. */
function sumOf(numbers: readonly ProviderNumber[], word: string): bigint | null {
  const currency = currencies.get(word)
  if (!currency) return null
  let sumMinor = 0n
  for (const number of numbers) {
    const amount = fromProviderAmount(number, currency)
    if (!amount) return null
    sumMinor += amount.minor
  }
  return sumMinor
}

const earliest = (times: readonly (string | null | undefined)[]): string | undefined =>
  times
    .filter((time): time is string => dateFrom(time) !== null)
    .sort((left, right) => Date.parse(left) - Date.parse(right))[0]

function dateFrom(text: string | null | undefined): Date | null {
  const ms = text ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? null : new Date(ms)
}
