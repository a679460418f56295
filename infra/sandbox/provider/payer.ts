import { findChannel } from '../channels/channels'
import { type Context, nowText } from '../context'
import { newId } from '../ids'
import type { Payment, PaymentRequest, PaymentSession } from '../records'
import { deliverEvent } from '../webhooks/payment-event'
import { matchedSender, paymentBody, paymentRequestBody } from './payment'
import { sessionEventBody } from './session'

/** Opens a payment request. Its reference has a suffix per attempt, the more difficult of two documented forms. */
export function openRequest(context: Context, session: PaymentSession, channelCode: string): PaymentRequest {
  const now = nowText(context)
  const attempts = session.attempts + 1
  const type = findChannel(session.account, channelCode)?.type
  const request = context.book.save('requests', {
    id: newId(context, 'request'),
    account: session.account,
    sessionId: session.id,
    referenceId: `${session.referenceId}_${context.ids.hex(4)}-${attempts}`,
    channelCode,
    amountMinor: session.amountMinor,
    captureMethod: session.captureMethod,
    status: type === 'BANK TRANSFER' || type === 'QR CODE' ? 'ACCEPTING_PAYMENTS' : 'REQUIRES_ACTION',
    failureCode: null,
    latestPaymentId: null,
    createdAt: now,
    updatedAt: now,
  })
  // A session that is completed names the payment that completed it.
  const requestId = session.status === 'COMPLETED' ? session.requestId : request.id
  context.book.save('sessions', { ...session, attempts, requestId, updatedAt: now })
  return request
}

/**
 * Captures a payment. An active session sends both webhooks, in random order; an expired one only the payment's. `sender` is
 * the result of the payer's verification, by default a match or none.
 */
export function captureRequest(
  context: Context,
  request: PaymentRequest,
  capturedMinor: bigint,
  sender?: string,
): Payment {
  const now = nowText(context)
  const short = context.chance.hits(context.faults.api.wrongAmount) ? 1n : 0n
  const payment = context.book.save('payments', {
    ...newPayment(context, request, now),
    ...authorizedPayment(context, request),
    ...(sender && { sender }),
    status: 'SUCCEEDED',
    capturedMinor: capturedMinor - short,
    captureId: newId(context, 'capture'),
    capturedAt: now,
    updatedAt: now,
  })
  closeRequest(context, request, 'SUCCEEDED', payment)
  const session = context.book.get('sessions', request.sessionId)
  const tellings = [() => deliverEvent(context, payment.account, 'payment.capture', paymentBody(payment))]
  if (session?.status === 'ACTIVE') {
    const completed = completeSession(context, session, payment)
    tellings.push(() => tellSession(context, completed))
  }
  for (const telling of context.chance.shuffle(tellings)) telling()
  return payment
}

export function authorizeRequest(context: Context, request: PaymentRequest): Payment {
  const now = nowText(context)
  const payment = context.book.save('payments', {
    ...newPayment(context, request, now),
    status: 'AUTHORIZED',
  })
  closeRequest(context, request, 'AUTHORIZED', payment)
  deliverEvent(context, payment.account, 'payment.authorization', paymentBody(payment))
  const session = context.book.get('sessions', request.sessionId)
  // As documented, manual capture completes the session before any money has moved.
  if (session?.status === 'ACTIVE' && request.captureMethod === 'MANUAL') {
    tellSession(context, completeSession(context, session, payment))
  }
  return payment
}

export function failRequest(context: Context, request: PaymentRequest, failureCode: string): Payment {
  const payment = context.book.save('payments', {
    ...newPayment(context, request, nowText(context)),
    status: 'FAILED',
    failureCode,
  })
  closeRequest(context, request, 'FAILED', payment)
  deliverEvent(context, payment.account, 'payment.failure', paymentBody(payment))
  return payment
}

export function expireSession(context: Context, session: PaymentSession): PaymentSession {
  const now = nowText(context)
  const expired = context.book.save('sessions', { ...session, status: 'EXPIRED', updatedAt: now })
  tellSession(context, expired)
  const request = session.requestId ? context.book.get('requests', session.requestId) : undefined
  if (request && (request.status === 'ACCEPTING_PAYMENTS' || request.status === 'REQUIRES_ACTION')) {
    const closed = context.book.save('requests', { ...request, status: 'EXPIRED', updatedAt: now })
    deliverEvent(context, session.account, 'payment_request.expiry', paymentRequestBody(closed))
  }
  return expired
}

export function expirePayment(context: Context, payment: Payment): Payment {
  const expired = context.book.save('payments', {
    ...payment,
    status: 'EXPIRED',
    updatedAt: nowText(context),
  })
  deliverEvent(context, payment.account, 'payment.expiry', paymentBody(expired))
  return expired
}

function tellSession(context: Context, session: PaymentSession): void {
  const event = `payment_session.${session.status.toLowerCase()}`
  deliverEvent(context, session.account, event, sessionEventBody(session, context.publicUrl))
}

function completeSession(context: Context, session: PaymentSession, payment: Payment): PaymentSession {
  return context.book.save('sessions', {
    ...session,
    status: 'COMPLETED',
    requestId: payment.requestId,
    paymentId: payment.id,
    updatedAt: nowText(context),
  })
}

function closeRequest(
  context: Context,
  request: PaymentRequest,
  status: PaymentRequest['status'],
  payment: Payment,
): void {
  context.book.save('requests', {
    ...request,
    status: request.status === 'EXPIRED' ? 'EXPIRED' : status,
    failureCode: payment.failureCode,
    latestPaymentId: payment.id,
    updatedAt: payment.updatedAt,
  })
}

function authorizedPayment({ book }: Context, request: PaymentRequest): Partial<Payment> {
  const latest = request.latestPaymentId ? book.get('payments', request.latestPaymentId) : undefined
  return latest?.status === 'AUTHORIZED' ? latest : {}
}

const newPayment = (context: Context, request: PaymentRequest, now: string): Payment => ({
  id: newId(context, 'payment'),
  // The payers of virtual accounts are verified for some merchants only.
  ...(findChannel(request.account, request.channelCode)?.type === 'BANK TRANSFER' &&
    context.chance.oneOf([{}, { sender: matchedSender }])),
  account: request.account,
  sessionId: request.sessionId,
  requestId: request.id,
  referenceId: request.referenceId,
  channelCode: request.channelCode,
  requestMinor: request.amountMinor,
  capturedMinor: 0n,
  captureId: null,
  capturedAt: null,
  captureMethod: request.captureMethod,
  status: 'AUTHORIZED',
  failureCode: null,
  createdAt: now,
  updatedAt: now,
})
