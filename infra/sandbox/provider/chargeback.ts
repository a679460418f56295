import { currencyOf } from '../account'
import { majorFromMinor } from '../amount'
import { type Context, nowText } from '../context'
import { newId } from '../ids'
import type { Chargeback, Payment } from '../records'

/** A chargeback for the controls and the book; the provider has no endpoint that answers it. */
export function chargebackBody(chargeback: Chargeback): Record<string, unknown> {
  const currency = currencyOf[chargeback.account]
  return {
    id: chargeback.id,
    payment_request_id: chargeback.requestId,
    payment_id: chargeback.paymentId,
    reference_id: chargeback.referenceId,
    channel_code: chargeback.channelCode,
    currency,
    amount: majorFromMinor(chargeback.amountMinor, currency),
    status: chargeback.status,
    created: chargeback.createdAt,
    updated: chargeback.updatedAt,
  }
}

/** The card network takes a payment back, or a part of it. Nobody is told: no webhook exists. */
export function openChargeback(
  { book }: Context,
  payment: Payment,
  ask: Pick<Chargeback, 'amountMinor' | 'status'>,
): Chargeback {
  const now = nowText()
  return book.save('chargebacks', {
    id: newId('chargeback'),
    account: payment.account,
    requestId: payment.requestId,
    paymentId: payment.id,
    referenceId: payment.referenceId,
    channelCode: payment.channelCode,
    ...ask,
    createdAt: now,
    updatedAt: now,
  })
}

/** The dispute goes on: `REVERSED` is one that the merchant won. */
export const moveChargeback = (
  { book }: Context,
  chargeback: Chargeback,
  status: Chargeback['status'],
): Chargeback => book.save('chargebacks', { ...chargeback, status, updatedAt: nowText() })
