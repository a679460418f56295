import type { Context } from '../context'
import { chargebackBody } from '../provider/chargeback'
import { disputeBody } from '../provider/dispute'
import { paymentBody, paymentRequestBody } from '../provider/payment'
import { payoutBody } from '../provider/payout'
import { refundBody } from '../provider/refund'
import { sessionBody } from '../provider/session'
import type { Webhook } from '../records'

/** Returns every object in the provider's format, oldest first. */
export function bookBody({ book, publicUrl }: Context): Record<string, unknown[]> {
  return {
    sessions: book.all('sessions').map((session) => ({
      account: session.account,
      // The real provider shows it in no response.
      payer_name: session.payerName ?? null,
      ...sessionBody(session, publicUrl),
    })),
    payment_requests: book.all('requests').map((request) => ({
      account: request.account,
      payment_session_id: request.sessionId,
      ...paymentRequestBody(request),
    })),
    payments: book.all('payments').map((payment) => ({
      account: payment.account,
      payment_session_id: payment.sessionId,
      session_reference_id: book.get('sessions', payment.sessionId)?.referenceId ?? null,
      listed_status: payment.forced?.listed ?? null,
      ...paymentBody(payment),
    })),
    refunds: book.all('refunds').map((refund) => ({
      account: refund.account,
      // The object itself may name its payment by another id, or by none.
      of_payment: refund.paymentId,
      ...(refund.asked ? { idempotency_key: refund.asked.key, replays: refund.asked.replays } : {}),
      ...refundBody(refund),
    })),
    chargebacks: book.all('chargebacks').map((chargeback) => ({
      account: chargeback.account,
      of_payment: chargeback.paymentId,
      ...chargebackBody(chargeback),
    })),
    disputes: book.all('disputes').map((dispute) => ({
      account: dispute.account,
      ...disputeBody({ book }, dispute),
    })),
    payouts: book.all('payouts').map((payout) => ({
      account: payout.account,
      idempotency_key: payout.idempotencyKey,
      replays: payout.replays,
      ...payoutBody(payout),
    })),
    identities: book.all('applicants').map(({ provider, wallet, providerRef, verdict, person }) => ({
      provider,
      wallet,
      applicant_id: providerRef,
      verdict,
      person,
    })),
    webhooks: book.all('webhooks').map(webhookBody),
  }
}

export function webhookBody(webhook: Webhook): Record<string, unknown> {
  return {
    id: webhook.id,
    webhook_id: webhook.webhookId,
    source: webhook.source,
    account: webhook.account,
    event: webhook.event,
    state: webhook.state,
    created: webhook.createdAt,
    next_attempt_at: webhook.nextAttemptAt,
    body: JSON.parse(webhook.body),
    attempts: webhook.attempts.map(({ at, status, answer, tookMs }) => ({
      at,
      status,
      body: answer,
      took_ms: tookMs,
    })),
  }
}
