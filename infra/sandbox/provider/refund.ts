import { businessIdOf, currencyOf } from '../account'
import type { Book } from '../book'
import { findChannel } from '../channels/channels'
import { type Context, nowText, planAt } from '../context'
import { newId } from '../ids'
import { majorFromMinor } from '../money'
import type { Naming, Payment, Refund } from '../records'
import { deliverEvent } from '../webhooks/payment-event'

const methodTypes = new Map([
  ['CARDS', 'CARD'],
  ['EWALLET', 'EWALLET'],
  ['ONLINE BANKING', 'DIRECT_DEBIT'],
])

/**
 * Returns the id by which an object names its payment. Sample bodies have all of these families
 * (docs.xendit.co/docs/cards-refund-a-card-payment; the README of xendit/xendit-python has `ewc_…`).
 */
export function nameOfPayment(names: Naming, { paymentId, requestId }: Pick<Refund, 'paymentId' | 'requestId'>) {
  if (names === 'payment') return paymentId
  if (names === 'request') return requestId
  return names === 'older' ? `ewc_${paymentId.slice(3)}` : null
}

/** Returns a refund as in API responses. */
export function refundBody(refund: Refund): Record<string, unknown> {
  return refund.version === 3 ? refundBodyV3(refund) : legacyRefundBody(refund)
}

/** Returns a refund of the newer API (docs.xendit.co/apidocs/get-a-refund). */
function refundBodyV3(refund: Refund): Record<string, unknown> {
  const currency = currencyOf[refund.account]
  return {
    refund_id: refund.id,
    reference_id: refund.referenceId,
    business_id: businessIdOf[refund.account],
    payment_id: refund.paymentId,
    status: refund.forced?.status ?? refund.status,
    amount: majorFromMinor(refund.amountMinor, currency),
    currency,
    channel_code: refund.channelCode,
    reason: refund.reason,
    created: refund.createdAt,
    updated: refund.updatedAt,
    metadata: refund.metadata,
  }
}

function legacyRefundBody(refund: Refund): Record<string, unknown> {
  const currency = currencyOf[refund.account]
  const type = findChannel(refund.account, refund.channelCode)?.type ?? ''
  return {
    id: refund.id,
    payment_request_id: refund.requestId,
    payment_id: nameOfPayment(refund.names, refund),
    invoice_id: null,
    amount: majorFromMinor(refund.amountMinor, currency),
    payment_method_type: methodTypes.get(type) ?? null,
    channel_code: refund.channelCode,
    currency,
    status: refund.forced?.status ?? refund.status,
    reason: refund.reason,
    reference_id: refund.referenceId,
    failure_code: refund.failureCode,
    refund_fee_amount: null,
    created: refund.createdAt,
    updated: refund.updatedAt,
    metadata: refund.metadata,
  }
}

export const refundableMinor = (book: Book, payment: Payment): bigint =>
  book
    .all('refunds')
    .filter((refund) => refund.paymentId === payment.id && refund.status !== 'FAILED')
    .reduce((left, refund) => left - refund.amountMinor, payment.capturedMinor)

/** Opens a refund. There is no webhook before the refund ends. */
export function openRefund(
  context: Context,
  payment: Payment,
  ask: Pick<Refund, 'amountMinor' | 'reason' | 'referenceId' | 'metadata' | 'asked' | 'stays' | 'version' | 'nameless'>,
): Refund {
  const now = nowText(context)
  return context.book.save('refunds', {
    id: newId(context, 'refund'),
    account: payment.account,
    requestId: payment.requestId,
    paymentId: payment.id,
    channelCode: payment.channelCode,
    names: context.chance.oneOf(['payment', 'request', 'older', 'none']),
    ...ask,
    status: 'PENDING',
    failureCode: null,
    createdAt: now,
    updatedAt: now,
  })
}

/**
 * Ends a refund and sends the webhook. A refund that succeeded may still fail: the payer's bank sends the money back.
 */
export function endRefund(context: Context, id: string, failureCode: string | null): Refund | null {
  const refund = context.book.get('refunds', id)
  const bounces = refund?.status === 'SUCCEEDED' && failureCode !== null
  if (!refund || (refund.status !== 'PENDING' && !bounces)) return null
  const { forced: _, ...record } = refund
  const ended = context.book.save('refunds', {
    ...record,
    ...(bounces ? { forced: { listed: 'REVERSED' } } : {}),
    status: failureCode ? 'FAILED' : 'SUCCEEDED',
    failureCode,
    updatedAt: nowText(context),
  })
  // Webhooks are flat, but the documentation's sample has a second envelope around the object.
  const body = refundBody(ended)
  const data = context.chance.oneOf([body, { event: `refund.${ended.status.toLowerCase()}`, data: body }])
  deliverEvent(context, ended.account, `refund.${ended.status.toLowerCase()}`, data)
  return ended
}

/** Plans the end of a refund, after the same time as for a payout. */
export function planRefund(context: Context, { id, createdAt, stays }: Refund): void {
  if (stays) return
  const dueMs = Date.parse(createdAt) + context.config.payoutSettleMs
  planAt(context, dueMs, () => void endRefund(context, id, null))
}
