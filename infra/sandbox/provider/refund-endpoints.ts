import { type Account, currencyOf } from '../account'
import { findChannel } from '../channels/channels'
import { type Context, nowMs } from '../context'
import { minorFromMajor } from '../money'
import type { Payment, Refund } from '../records'
import type { ProviderCall, ProviderEndpoint } from './endpoint'
import { canonical } from './payout-request'
import { Problem } from './problem'
import { openRefund, planRefund, refundableMinor, refundBody } from './refund'
import { shapeOf } from './shape'

const dayMs = 86_400_000
const reasons = ['FRAUDULENT', 'DUPLICATE', 'REQUESTED_BY_CUSTOMER', 'CANCELLATION', 'OTHERS'] as const

export const refundEndpoints: readonly ProviderEndpoint[] = [
  { method: 'POST', path: '/refunds', run: create },
  { method: 'GET', path: '/refunds/:id', run: get },
  { method: 'GET', path: '/refunds', run: list },
  { method: 'GET', path: '/v3/refunds/:id', run: getV3 },
]

function create(context: Context, { account, headers, body }: ProviderCall) {
  const key = headers.get('idempotency-key')
  const known = key ? findByKey(context, account, key) : undefined
  if (known) return { body: refundBody(replay(context, known, canonical(body))) }
  const shape = shapeOf(body)
  const requestId = shape.text('payment_request_id', { required: true })
  const reason = shape.word('reason', reasons, true)
  const referenceId = shape.text('reference_id', { max: 255 })
  const amount = shape.number('amount')
  const currency = shape.text('currency')
  shape.done()
  if (currency !== null && currency !== currencyOf[account]) {
    throw new Problem('API_VALIDATION_ERROR', `currency must be ${currencyOf[account]}`)
  }
  const payment = context.book.find('payments', (p) => p.requestId === requestId)
  if (payment?.account !== account) {
    throw new Problem('DATA_NOT_FOUND', 'Payment request not found')
  }
  const amountMinor = askedMinor(amount, payment)
  refuseIneligible(context, payment, amountMinor)
  const refund = openRefund(context, payment, {
    amountMinor,
    reason: reason ?? 'OTHERS',
    referenceId,
    metadata: body.metadata ?? null,
    ...(key ? { asked: { key, body: canonical(body), replays: 0 } } : {}),
  })
  planRefund(context, refund)
  return { body: refundBody(refund) }
}

/** Finds a refund by its idempotency key, which the provider's client sends, but its reference omits. */
function findByKey({ book, faults, chance }: Context, account: Account, key: string) {
  if (chance.hits(faults.api.forgetKeys)) return undefined
  return book.find('refunds', (one) => one.account === account && one.asked?.key === key)
}

function replay({ book }: Context, known: Refund, body: string): Refund {
  const asked = known.asked!
  if (asked.body !== body) {
    throw new Problem('DUPLICATE_ERROR', 'A refund with this idempotency key already exists')
  }
  return book.save('refunds', { ...known, asked: { ...asked, replays: asked.replays + 1 } })
}

function askedMinor(amount: number | null, payment: Payment): bigint {
  if (amount === null) return payment.capturedMinor
  const minor = minorFromMajor(amount, currencyOf[payment.account])
  if (minor === null || minor === 0n) {
    throw new Problem('API_VALIDATION_ERROR', 'amount does not fit the currency')
  }
  return minor
}

function refuseIneligible(context: Context, payment: Payment, amountMinor: bigint): void {
  const { book } = context
  if (payment.status !== 'SUCCEEDED') {
    throw new Problem('INELIGIBLE_TRANSACTION_STATUS', `Payment is ${payment.status}`)
  }
  const channel = findChannel(payment.account, payment.channelCode)
  if (!channel || channel.refunds === 'no') {
    throw new Problem('REFUND_NOT_SUPPORTED', `${payment.channelCode} cannot be refunded`)
  }
  if (channel.refunds === 'whole' && amountMinor !== payment.capturedMinor) {
    throw new Problem('PARTIAL_REFUND_NOT_SUPPORTED', `${channel.code} refunds only in full`)
  }
  const paidMs = Date.parse(payment.capturedAt ?? payment.createdAt)
  if (channel.refundDays !== null && nowMs(context) > paidMs + channel.refundDays * dayMs) {
    throw new Problem('INELIGIBLE_TRANSACTION_STATUS', 'The refund window has passed')
  }
  if (book.find('refunds', (r) => r.paymentId === payment.id && r.status === 'PENDING')) {
    throw new Problem('REFUND_IN_PROGRESS', 'Another refund of this payment is in progress')
  }
  if (amountMinor > refundableMinor(book, payment)) {
    throw new Problem('REFUND_AMOUNT_EXCEEDED', 'Refund amount exceeds the refundable remainder')
  }
}

function get(context: Context, call: ProviderCall) {
  refuseHidden(context)
  const refund = context.book.get('refunds', call.id('refund'))
  if (refund?.account !== call.account || refund.version === 3) throw new Problem('DATA_NOT_FOUND', 'Refund not found')
  return { body: refundBody(refund) }
}

/** Returns a refund of the newer API, which does not know those of the legacy one. */
function getV3(context: Context, call: ProviderCall) {
  refuseHidden(context)
  const refund = context.book.get('refunds', call.id('refund'))
  if (refund?.account !== call.account || refund.version !== 3) throw new Problem('DATA_NOT_FOUND', 'Refund not found')
  return { body: refundBody(refund) }
}

function list(context: Context, { account, query }: ProviderCall) {
  refuseHidden(context)
  const fits = fitsQuery(account, query)
  const known = context.book.all('refunds').filter(({ version }) => version !== 3)
  const data = known.filter(fits).reverse().map(refundBody)
  return { body: { has_more: false, data } }
}

// Hides refunds. Reading them is in the provider's SDK but no longer in its reference.
function refuseHidden({ chance, faults }: Context): void {
  if (chance.hits(faults.api.hideRefunds)) throw new Problem('DATA_NOT_FOUND', 'Refund not found')
}

const fitsQuery =
  (account: Account, query: URLSearchParams) =>
  (refund: { account: Account; requestId: string; channelCode: string }): boolean => {
    const requestId = query.get('payment_request_id') ?? refund.requestId
    const channelCode = query.get('channel_code') ?? refund.channelCode
    return refund.account === account && refund.requestId === requestId && refund.channelCode === channelCode
  }
