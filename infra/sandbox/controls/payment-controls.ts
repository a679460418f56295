import { type Context, nowText } from '../context'
import type { JsonObject } from '../json'
import { chargebackBody, moveChargeback, openChargeback } from '../provider/chargeback'
import { disputeBody, moveDispute, openDispute } from '../provider/dispute'
import { captureRequest, expirePayment } from '../provider/payer'
import { paymentBody } from '../provider/payment'
import { endRefund, openRefund, refundableMinor, refundBody } from '../provider/refund'
import {
  type Chargeback,
  type Dispute,
  isNaming,
  type Payment,
  type Refund,
  type TransactionStatus,
  transactionStatuses,
} from '../records'
import { amountMinorOf } from './amounts'
import { type Control, forcedIn, optionalText, Refusal } from './control'

export const paymentControls = (context: Context): Control[] => [
  {
    method: 'POST',
    path: '/control/payments/:id/refund',
    run: (id, body) => refundBody(refund(context, paymentIn(context, id, 'SUCCEEDED'), body)),
  },
  {
    method: 'POST',
    path: '/control/payments/:id/chargeback',
    run: (id, body) => chargebackBody(chargeBack(context, paymentIn(context, id, 'SUCCEEDED'), body)),
  },
  {
    method: 'POST',
    path: '/control/chargebacks/:id',
    run(id, body) {
      const chargeback = context.book.get('chargebacks', id)
      if (!chargeback) throw new Refusal(404, 'no such chargeback')
      const { account, amountMinor, status } = chargeback
      const change = { amountMinor: amountMinorOf(body, account, amountMinor) }
      return chargebackBody(moveChargeback(context, chargeback, { ...change, status: statusOf(body) ?? status }))
    },
  },
  {
    method: 'POST',
    path: '/control/payments/:id/dispute',
    run(id, body) {
      const payment = paymentIn(context, id, 'SUCCEEDED')
      const amountMinor = amountMinorOf(body, payment.account, payment.capturedMinor)
      const dueAt = optionalText(body, 'due_date')
      const names = optionalText(body, 'names')
      const currency = optionalText(body, 'currency')
      const dispute = openDispute(context, payment, {
        amountMinor,
        ...(dueAt === null ? {} : { dueAt }),
        ...(currency === null ? {} : { currency }),
        ...(isNaming(names) && { names }),
        ...(body.referenced === true && { referenceId: payment.referenceId }),
      })
      return disputeBody(context, dispute)
    },
  },
  {
    method: 'POST',
    path: '/control/disputes/:id',
    run(id, body) {
      const dispute = context.book.get('disputes', id)
      if (!dispute) throw new Refusal(404, 'no such dispute')
      return disputeBody(context, moveDispute(context, dispute, decisionIn(dispute, body), rowNamesIn(body)))
    },
  },
  {
    method: 'POST',
    path: '/control/payments/:id/tell',
    run(id, body) {
      const payment = paymentIn(context, id, 'SUCCEEDED')
      const sender = optionalText(body, 'sender') ?? payment.sender
      const change = { forced: forcedIn(body), ...(sender && { sender }), updatedAt: nowText(context) }
      return paymentBody(context.book.save('payments', { ...payment, ...change }))
    },
  },
  {
    method: 'POST',
    path: '/control/refunds/:id/tell',
    run(id, body) {
      const refund = context.book.get('refunds', id)
      if (!refund) throw new Refusal(404, 'no such refund')
      const change = { forced: forcedIn(body), updatedAt: nowText(context) }
      return refundBody(context.book.save('refunds', { ...refund, ...change }))
    },
  },
  {
    method: 'POST',
    path: '/control/payments/:id/capture',
    run(id, body) {
      const payment = paymentIn(context, id, 'AUTHORIZED')
      const request = context.book.get('requests', payment.requestId)
      if (!request) throw new Refusal(404, 'no such payment request')
      const capturedMinor = amountMinorOf(body, payment.account, payment.requestMinor)
      return paymentBody(captureRequest(context, request, capturedMinor))
    },
  },
  {
    method: 'POST',
    path: '/control/payments/:id/expire',
    run: (id) => paymentBody(expirePayment(context, paymentIn(context, id, 'AUTHORIZED'))),
  },
  {
    method: 'POST',
    path: '/control/refunds/:id/succeed',
    run: (id) => ended(endRefund(context, id, null)),
  },
  {
    method: 'POST',
    path: '/control/refunds/:id/fail',
    run: (id, body) => ended(endRefund(context, id, optionalText(body, 'failure_code') ?? 'REFUND_FAILED')),
  },
]

function paymentIn({ book }: Context, id: string, status: Payment['status']): Payment {
  // A reference may have several sessions, of which a later one need not be paid.
  const isOfSession = (p: Payment) => p.sessionId === id || book.get('sessions', p.sessionId)?.referenceId === id
  const matches = (p: Payment) => p.requestId === id || isOfSession(p)
  const payment =
    book.get('payments', id) ??
    book.find('payments', (p) => matches(p) && p.status === status) ??
    book.find('payments', matches)
  if (!payment) throw new Refusal(404, 'no such payment')
  if (payment.status === status) return payment
  throw new Refusal(409, `the payment is ${payment.status}`)
}

// Refunds as the provider's dashboard does: ignores channel rules, but not the amount left.
function refund(context: Context, payment: Payment, body: JsonObject): Refund {
  const leftMinor = refundableMinor(context.book, payment)
  const amountMinor = amountMinorOf(body, payment.account, leftMinor)
  if (amountMinor > leftMinor || leftMinor === 0n) {
    throw new Refusal(409, 'amount exceeds the refundable remainder')
  }
  const stays = optionalText(body, 'status') === 'PENDING'
  const opened = openRefund(context, payment, {
    ...(stays ? { stays } : {}),
    ...(body.nameless === true ? { nameless: true as const } : {}),
    ...(body.version === 3 ? { version: 3 as const } : {}),
    amountMinor,
    reason: optionalText(body, 'reason') ?? 'REQUESTED_BY_CUSTOMER',
    referenceId: optionalText(body, 'reference_id'),
    metadata: null,
  })
  if (stays) return opened
  return endRefund(context, opened.id, optionalText(body, 'failure_code')) ?? opened
}

// Opens a chargeback. Neither channel rules nor earlier refunds limit the card network, nor does the paid amount.
function chargeBack(context: Context, payment: Payment, body: JsonObject): Chargeback {
  const amountMinor = amountMinorOf(body, payment.account, payment.capturedMinor)
  const currency = optionalText(body, 'currency')
  const names = rowNamesIn(body)
  return openChargeback(context, payment, {
    amountMinor,
    status: statusOf(body) ?? 'SUCCESS',
    ...(currency === null ? {} : { currency }),
    ...(names && { names }),
  })
}

/** Returns the object that the row of a chargeback names, or undefined if the body has none. */
function rowNamesIn(body: JsonObject): Chargeback['names'] {
  const names = optionalText(body, 'names')
  return names === 'payment' || names === 'request' || names === 'dispute' ? names : undefined
}

/** Returns the change of a dispute. A decision is about all of it, unless the body has an amount. */
function decisionIn({ account, amountMinor, status, dueAt }: Dispute, body: JsonObject) {
  const to = optionalText(body, 'status') ?? status
  const isDecided = to === 'WON' || to === 'LOST'
  return {
    status: to,
    statusReason: optionalText(body, 'status_reason'),
    finalMinor: isDecided ? amountMinorOf(body, account, amountMinor) : null,
    dueAt: optionalText(body, 'due_date') ?? dueAt,
  }
}

function statusOf(body: JsonObject): TransactionStatus | undefined {
  const word = optionalText(body, 'status')
  if (word === null) return undefined
  const status = transactionStatuses.find((known) => known === word)
  if (status) return status
  throw new Refusal(400, `status must be one of ${transactionStatuses.join(', ')}`)
}

function ended(refund: Refund | null): unknown {
  if (!refund) throw new Refusal(409, 'no such pending refund')
  return refundBody(refund)
}
