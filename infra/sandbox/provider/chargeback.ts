import { currencyOf } from '../account'
import { type Context, nowText } from '../context'
import { newId } from '../ids'
import { majorFromMinor } from '../money'
import type { Chargeback, Payment } from '../records'

/** Returns a chargeback for the controls. The provider has no such endpoint. */
export function chargebackBody(chargeback: Chargeback): Record<string, unknown> {
  const currency = chargeback.currency ?? currencyOf[chargeback.account]
  return {
    id: chargeback.id,
    payment_request_id: chargeback.requestId,
    payment_id: chargeback.paymentId,
    reference_id: chargeback.referenceId,
    channel_code: chargeback.channelCode,
    currency,
    amount: majorFromMinor(chargeback.amountMinor, currencyOf[chargeback.account]),
    status: chargeback.status,
    created: chargeback.createdAt,
    updated: chargeback.updatedAt,
  }
}

/** Opens a chargeback as the card network does. There is no webhook. */
export function openChargeback(
  context: Context,
  payment: Payment,
  ask: Pick<Chargeback, 'amountMinor' | 'status' | 'currency' | 'names' | 'disputeId'>,
): Chargeback {
  const now = nowText(context)
  return context.book.save('chargebacks', {
    id: newId(context, 'chargeback'),
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

/** Changes a dispute. Its amount may grow; the merchant has won a dispute that is `REVERSED`. */
export const moveChargeback = (
  context: Context,
  chargeback: Chargeback,
  change: Pick<Chargeback, 'amountMinor' | 'status'>,
): Chargeback => context.book.save('chargebacks', { ...chargeback, ...change, updatedAt: nowText(context) })
