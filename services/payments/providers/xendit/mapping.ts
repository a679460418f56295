import { asObject } from '#platform/schema'
import type { PersonName } from '#shared/messages/identity'
import { toProviderAmount } from '#shared/provider/amount'
import type { ProviderClient } from '#shared/provider/client'
import { dateFrom, demandSameField, idFrom, minorFrom, textFrom } from '#shared/provider/field'
import type {
  Charge,
  ChargeStatus,
  Checkout,
  CheckoutOrder,
  CheckoutStatus,
  DisputeStage,
  FetchedCharge,
  FetchedDispute,
  FetchedRefund,
  RefundOrder,
  RefundStatus,
} from '../../provider'
import { channelKind } from './channel'
import { senderVerificationOf } from './sender'
import type { WireDispute, WireOpened, WirePayment, WireRefund, WireSession } from './wire'

const checkoutStatuses: ReadonlyMap<string, CheckoutStatus> = new Map([
  ['ACTIVE', 'open'],
  ['PENDING', 'open'],
  ['COMPLETED', 'completed'],
  ['EXPIRED', 'closed'],
  ['CANCELED', 'cancelled'],
])
const chargeStatuses: ReadonlyMap<string, ChargeStatus> = new Map([
  ['SUCCEEDED', 'succeeded'],
  ['AUTHORIZED', 'pending'],
  ['PENDING', 'pending'],
  ['FAILED', 'dead'],
  ['EXPIRED', 'dead'],
  ['CANCELED', 'voided'],
  ['VOIDED', 'voided'],
  ['REVERSED', 'voided'],
])
const refundStatuses: ReadonlyMap<string, RefundStatus> = new Map([
  ['PENDING', 'pending'],
  ['SUCCEEDED', 'succeeded'],
  ['FAILED', 'dead'],
  ['CANCELLED', 'dead'],
  ['REVERSED', 'dead'],
])

/** Words of docs.xendit.co/docs/manage-disputes-via-api. */
const disputeStages: ReadonlyMap<string, DisputeStage> = new Map([
  ['ACTION_REQUIRED', 'evidence_due'],
  ['UNDER_REVIEW', 'under_review'],
  ['WON', 'won'],
  ['LOST', 'lost'],
])

/** Channels in rupiah that need no name of the payer. */
const namelessChannels = ['QRIS', 'CARDS']

/** Without the field, a session shows every channel of the account. */
function allowedChannels({ cardsOnly, namelessOnly }: CheckoutOrder): { allowed_payment_channels?: readonly string[] } {
  if (cardsOnly) return { allowed_payment_channels: ['CARDS'] }
  return namelessOnly ? { allowed_payment_channels: namelessChannels } : {}
}

/**
 * Returns the customer of a session, whose name the provider compares with the sender's account. Sources:
 * docs.xendit.co/docs/payer-verification-for-crypto-merchant of 16 Jul 2026 ("payments made to selected Virtual Accounts must
 * include payer verification data": MANDIRI, BRI and INA), and docs.xendit.co/apidocs/create-session for the place
 * (`customer.individual_detail`). A reference serves one customer, so a repeated session has another.
 */
const customerOf = (reference: string, { givenNames, surname }: PersonName) => ({
  reference_id: `${reference}-${crypto.randomUUID()}`,
  type: 'INDIVIDUAL',
  individual_detail: { given_names: givenNames, ...(surname !== null && { surname }) },
})

/** Returns the app's address, naming the payment that the user returns from. */
function returnUrl(appUrl: string, reference: string): string {
  const url = new URL(appUrl)
  url.searchParams.set('payment', reference)
  return url.href
}

/** Returns the body that opens a session. `nowMs` is by the provider's clock. */
export const sessionRequest = (order: CheckoutOrder, { appUrl, nowMs }: { appUrl: string; nowMs: number }) => ({
  reference_id: order.reference,
  session_type: 'PAY',
  mode: 'PAYMENT_LINK',
  country: order.account,
  currency: order.fiat.currency,
  amount: toProviderAmount(order.fiat),
  capture_method: 'AUTOMATIC',
  ...allowedChannels(order),
  ...(order.payerName && { customer: customerOf(order.reference, order.payerName) }),
  expires_at: new Date(nowMs + order.lifeMs).toISOString(),
  locale: order.account === 'ID' ? 'id' : 'en',
  description: order.description,
  // The metadata has at most 20 entries of 80 characters, the stricter of the two documented limits.
  metadata: order.promised,
  success_return_url: returnUrl(appUrl, order.reference),
  cancel_return_url: returnUrl(appUrl, order.reference),
})

/**
 * Returns the body of a refund. It always has an amount, because without one the provider would refund
 * everything.
 */
export const refundRequest = ({ paymentRequestId, reference, fiat, isSecond }: RefundOrder) => ({
  payment_request_id: paymentRequestId,
  reference_id: reference,
  amount: toProviderAmount(fiat),
  currency: fiat.currency,
  reason: isSecond ? 'DUPLICATE' : 'CANCELLATION',
})

const wordOf = (value: unknown): string => textFrom(value, 80) ?? ''

/** Clock of the client. Times in responses are by the provider's clock; `aheadMs` converts them to ours. */
type Clocked = Pick<ProviderClient, 'account' | 'aheadMs'>

function timeFrom({ aheadMs }: Clocked, value: unknown): Date | null {
  const theirs = dateFrom(value)
  return theirs && new Date(theirs.getTime() - aheadMs())
}

export function checkoutFrom(client: Clocked, wire: WireSession, checkoutId: string): Checkout {
  demandSameField(wire.payment_session_id, checkoutId)
  return {
    checkoutId,
    reference: textFrom(wire.reference_id) ?? '',
    status: checkoutStatuses.get(wordOf(wire.status)) ?? 'unknown',
    checkoutUrl: linkFrom(wire.payment_link_url),
    expiresAt: timeFrom(client, wire.expires_at),
    paymentRequestId: idFrom(wire.payment_request_id),
    paymentId: idFrom(wire.payment_id),
  }
}

/** Returns true if the opened session is the one we ordered. A field that the response lacks is not compared. */
export function isAsOrdered(wire: WireOpened, { fiat, reference }: CheckoutOrder): boolean {
  const { amount, currency, reference_id: of } = wire
  const isMissing = (value: unknown) => value === undefined || value === null
  return (
    (isMissing(amount) || minorFrom(amount, fiat.currency) === fiat.minor) &&
    (isMissing(currency) || currency === fiat.currency) &&
    (isMissing(of) || of === reference)
  )
}

const linkFrom = (value: unknown): string | null => {
  const link = textFrom(value, 2_000)
  return link !== null && /^https?:\/\//.test(link) ? link : null
}

/**
 * Returns the charge of a payment. The amount paid is the sum of its captures, or the requested amount if it
 * has none.
 */
export function chargeFrom(client: Clocked, wire: WirePayment, paymentId: string): FetchedCharge {
  demandSameField(wire.payment_id, paymentId)
  const captures = (Array.isArray(wire.captures) ? wire.captures : []).map((capture) => asObject(capture) ?? {})
  const amounts = captures.length > 0 ? captures.map((one) => one.capture_amount) : [wire.request_amount]
  const currency = wordOf(wire.currency)
  const channel = wordOf(wire.channel_code) || 'UNKNOWN'
  const status = chargeStatuses.get(wordOf(wire.status)) ?? 'unknown'
  const senderVerification = senderVerificationOf(wire)
  return {
    // Money does not count while the sender verification is pending.
    status: status === 'succeeded' && senderVerification === 'pending' ? 'pending' : status,
    charge: {
      account: client.account,
      paymentId,
      paymentRequestId: idFrom(wire.payment_request_id),
      reference: textFrom(wire.reference_id) ?? '',
      currency,
      paidMinor: sumOf(amounts, currency),
      channel,
      channelKind: channelKind(channel),
      // The time is never read from `updated`: a later change of the object would make a timely payment look late.
      paidAt:
        earliest(captures.map((one) => timeFrom(client, one.capture_timestamp))) ?? timeFrom(client, wire.created),
      ...payersWords(asObject(wire.payment_details) ?? {}),
      ...(senderVerification && { senderVerification }),
    },
  }
}

/**
 * Reads what names the payment on the payer's side, from the fields of `payment_details` in docs.xendit.co/apidocs/payment-object:
 * the receipt of a QR payment (its RRN), or the retrieval reference number of a card.
 */
function payersWords(details: Record<string, unknown>): Pick<Charge, 'issuer' | 'bankReceipt'> {
  const card = asObject(details.authorization_data)
  return {
    issuer: printableFrom(details.issuer_name),
    bankReceipt: printableFrom(details.receipt_id) ?? printableFrom(card?.retrieval_reference_number),
  }
}

/** Reads a short text without control characters. Returns null for another value. */
const printableFrom = (value: unknown): string | null => {
  const text = textFrom(value, 64)?.trim()
  return text && !/\p{C}/u.test(text) ? text : null
}

export function refundFrom(wire: WireRefund, refundId: string): FetchedRefund {
  demandSameField(wire.id ?? wire.refund_id, refundId)
  const currency = wordOf(wire.currency)
  return {
    refundId,
    status: refundStatuses.get(wordOf(wire.status)) ?? 'unknown',
    paymentId: idFrom(wire.payment_id),
    paymentRequestId: idFrom(wire.payment_request_id),
    reference: textFrom(wire.reference_id),
    currency,
    refundedMinor: sumOf([wire.amount], currency),
  }
}

export function disputeFrom(client: Clocked, wire: WireDispute, disputeId: string): FetchedDispute {
  demandSameField(wire.id, disputeId)
  const currency = wordOf(wire.currency)
  const amount = asObject(wire.amount)
  // A number that the client read is an object too.
  const { initial, terminal } = amount && !('decimal' in amount) ? amount : { initial: wire.amount, terminal: null }
  return {
    disputeId,
    stage: disputeStages.get(wordOf(wire.status)) ?? 'unknown',
    paymentId: idFrom(wire.payment_id),
    reference: textFrom(wire.reference_id),
    currency,
    initialMinor: sumOf([initial], currency),
    finalMinor: terminal === undefined || terminal === null ? undefined : sumOf([terminal], currency),
    dueAt: timeFrom(client, wire.due_date),
  }
}

/** Returns the sum, or null if an amount is inexact or the currency is unknown. */
function sumOf(amounts: readonly unknown[], currency: string): bigint | null {
  let sumMinor = 0n
  for (const amount of amounts) {
    const minor = minorFrom(amount, currency)
    if (minor === null) return null
    sumMinor += minor
  }
  return sumMinor
}

const earliest = (times: readonly (Date | null)[]): Date | null =>
  times.filter((time) => time !== null).sort((left, right) => left.getTime() - right.getTime())[0] ?? null
