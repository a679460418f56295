import { currencyOf } from '../account'
import type { Context } from '../context'
import { minorFromMajor } from '../money'
import type { ProviderCall, ProviderEndpoint } from './endpoint'
import { captureRequest } from './payer'
import { paymentBody, paymentRequestBody } from './payment'
import { Problem } from './problem'
import { shapeOf } from './shape'

/** Endpoints of payments and payment requests. Both objects contain the channel that was charged. */
export const paymentEndpoints: readonly ProviderEndpoint[] = [
  {
    method: 'GET',
    path: '/v3/payment_requests/:id',
    run: (context, call) => ({ body: paymentRequestBody(ownRequest(context, call)) }),
  },
  { method: 'POST', path: '/v3/payment_requests/:id/simulate', run: simulate },
  { method: 'GET', path: '/v3/payments/:id', run: getPayment },
]

// Pays a request. The provider has this endpoint in test mode only.
function simulate(context: Context, call: ProviderCall) {
  const shape = shapeOf(call.body)
  const amount = shape.number('amount')
  shape.done()
  const request = ownRequest(context, call)
  if (request.status !== 'ACCEPTING_PAYMENTS' && request.status !== 'REQUIRES_ACTION') {
    const message = `Payment request is ${request.status} and cannot be paid`
    throw new Problem('INACTIVE_PAYMENT_REQUEST', message)
  }
  const paidMinor = amount === null ? request.amountMinor : minorFromMajor(amount, currencyOf[call.account])
  if (paidMinor !== request.amountMinor) {
    throw new Problem('API_VALIDATION_ERROR', 'amount must equal the requested amount')
  }
  captureRequest(context, request, paidMinor)
  const message =
    'A simulated payment for the specified payment request id is being processed. ' +
    'You will be informed of the result via a webhook.'
  return { body: { status: 'PENDING', message } }
}

function getPayment({ book, chance, faults }: Context, call: ProviderCall) {
  const payment = book.get('payments', call.id('payment'))
  const isHidden = payment?.forced?.hidden || chance.hits(faults.api.hidePayments)
  if (payment?.account !== call.account || isHidden) throw new Problem('DATA_NOT_FOUND', 'Payment not found')
  const body = paymentBody(payment)
  if (chance.hits(faults.api.failPayments)) return { body: { ...body, status: 'FAILED' } }
  return { body: chance.hits(faults.api.oddTimes) ? withOddTimes(body) : body }
}

/** Replaces times by those that some systems print for a missing time. */
function withOddTimes(body: Record<string, unknown>): Record<string, unknown> {
  const captures = body.captures as Record<string, unknown>[]
  const odd = captures.map((one) => ({ ...one, capture_timestamp: '0001-01-01T00:00:00Z' }))
  return { ...body, captures: odd, created: 0, updated: '2026-01-27T09:33:13' }
}

function ownRequest({ book }: Context, call: ProviderCall) {
  const request = book.get('requests', call.id('request'))
  if (request?.account !== call.account) {
    throw new Problem('DATA_NOT_FOUND', 'Payment request not found')
  }
  return request
}
