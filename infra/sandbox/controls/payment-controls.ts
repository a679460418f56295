import { chargebackBody, moveChargeback, openChargeback } from '../provider/chargeback'
import { captureRequest, expirePayment } from '../provider/payer'
import { paymentBody } from '../provider/payment'
import { endRefund, openRefund, refundableMinor, refundBody } from '../provider/refund'
import {
  type Chargeback,
  type Payment,
  type Refund,
  type TransactionStatus,
  transactionStatuses,
} from '../records'
import type { JsonObject } from '../route'
import type { World } from '../world'
import { amountMinorOf } from './amounts'
import { type Control, optionalText, Refusal } from './control'

/** Controls over payments after the payer is gone: money that goes back, and cards only authorized. */
export const paymentControls = (world: World): Control[] => [
  {
    method: 'POST',
    path: '/control/payments/:id/refund',
    run: (id, body) => refundBody(refund(world, paymentIn(world, id, 'SUCCEEDED'), body)),
  },
  {
    method: 'POST',
    path: '/control/payments/:id/chargeback',
    run: (id, body) => chargebackBody(chargeBack(world, paymentIn(world, id, 'SUCCEEDED'), body)),
  },
  {
    method: 'POST',
    path: '/control/chargebacks/:id',
    run(id, body) {
      const chargeback = world.book.get('chargebacks', id)
      if (!chargeback) throw new Refusal(404, 'no such chargeback')
      return chargebackBody(moveChargeback(world, chargeback, statusOf(body) ?? chargeback.status))
    },
  },
  {
    method: 'POST',
    path: '/control/payments/:id/capture',
    run(id, body) {
      const payment = paymentIn(world, id, 'AUTHORIZED')
      const request = world.book.get('requests', payment.requestId)
      if (!request) throw new Refusal(404, 'no such payment request')
      const capturedMinor = amountMinorOf(body, payment.account, payment.requestMinor)
      return paymentBody(captureRequest(world, request, capturedMinor))
    },
  },
  {
    method: 'POST',
    path: '/control/payments/:id/expire',
    run: (id) => paymentBody(expirePayment(world, paymentIn(world, id, 'AUTHORIZED'))),
  },
  {
    method: 'POST',
    path: '/control/refunds/:id/succeed',
    run: (id) => ended(endRefund(world, id, null)),
  },
  {
    method: 'POST',
    path: '/control/refunds/:id/fail',
    run: (id, body) =>
      ended(endRefund(world, id, optionalText(body, 'failure_code') ?? 'REFUND_FAILED')),
  },
]

function paymentIn({ book }: World, id: string, status: Payment['status']): Payment {
  const session = book.get('sessions', id) ?? book.find('sessions', (s) => s.referenceId === id)
  const matches = (p: Payment) => p.requestId === id || p.sessionId === session?.id
  const payment =
    book.get('payments', id) ??
    book.find('payments', (p) => matches(p) && p.status === status) ??
    book.find('payments', matches)
  if (!payment) throw new Refusal(404, 'no such payment')
  if (payment.status === status) return payment
  throw new Refusal(409, `the payment is ${payment.status}`)
}

// What an operator does at the provider's dashboard: channel rules do not hold here, sums do.
function refund(world: World, payment: Payment, body: JsonObject): Refund {
  const leftMinor = refundableMinor(world.book, payment)
  const amountMinor = amountMinorOf(body, payment.account, leftMinor)
  if (amountMinor > leftMinor || leftMinor === 0n) {
    throw new Refusal(409, 'more than is left to refund')
  }
  const opened = openRefund(world, payment, {
    amountMinor,
    reason: optionalText(body, 'reason') ?? 'REQUESTED_BY_CUSTOMER',
    referenceId: optionalText(body, 'reference_id'),
    metadata: null,
  })
  return endRefund(world, opened.id, optionalText(body, 'failure_code')) ?? opened
}

// The card network asks nobody: neither channel rules nor earlier refunds stop it.
function chargeBack(world: World, payment: Payment, body: JsonObject): Chargeback {
  const amountMinor = amountMinorOf(body, payment.account, payment.capturedMinor)
  if (amountMinor > payment.capturedMinor) throw new Refusal(409, 'more than was paid')
  return openChargeback(world, payment, { amountMinor, status: statusOf(body) ?? 'SUCCESS' })
}

function statusOf(body: JsonObject): TransactionStatus | undefined {
  const word = optionalText(body, 'status')
  if (word === null) return undefined
  const status = transactionStatuses.find((known) => known === word)
  if (status) return status
  throw new Refusal(400, `status must be one of ${transactionStatuses.join(', ')}`)
}

function ended(refund: Refund | null): unknown {
  if (!refund) throw new Refusal(409, 'no such refund is pending')
  return refundBody(refund)
}
