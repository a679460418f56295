import type { Tx } from '#shared/db/open'
import { recordAnomaly } from './anomaly.store'
import { lockPayment, notePayment } from './payment.store'
import type { FetchedCharge, FetchedRefund } from './payment-provider'
import { decideRefunded } from './receipt'
import { matchPayment, receivePayment } from './receipt.store'
import { recordRefund, sumRefunded } from './refund.store'
import { type Desk, takeDecided } from './step.store'

/**
 * The one way a refund comes in. It may be told before the payment itself: the payment is then
 * received first, and money that already went back is not credited.
 */
export async function receiveRefund(
  tx: Tx,
  desk: Desk,
  refund: FetchedRefund,
  fetched: FetchedCharge,
): Promise<void> {
  const { charge } = fetched
  const matched = await matchPayment(tx, { charge })
  if (!matched) {
    const known = { account: charge.account, object: refund.refundId }
    await recordAnomaly(tx, { kind: 'object_unknown', ...known })
    return
  }
  const { refundedMinor } = refund
  if (refundedMinor === null) throw new Error(`refund ${refund.refundId} has no exact amount`)
  await lockPayment(tx, matched.id)
  await recordRefund(tx, {
    id: refund.refundId,
    paymentId: matched.id,
    providerPaymentId: charge.paymentId,
    refundedMinor,
    status: refund.status,
  })
  if (refund.status !== 'succeeded') return
  if (fetched.status === 'succeeded') await receivePayment(tx, desk, { charge })
  await count(tx, desk, matched.id, charge.paymentId)
}

async function count(tx: Tx, desk: Desk, id: string, providerPaymentId: string): Promise<void> {
  const payment = await lockPayment(tx, id)
  // A refund of a second payment gives back what nobody credited: recorded, and no more.
  if (payment?.providerPaymentId !== providerPaymentId) return
  const refundedMinor = await sumRefunded(tx, providerPaymentId)
  await notePayment(tx, id, { refundedMinor })
  desk.log.info({ paymentId: id, state: payment.state }, 'refund recorded')
  const after = { ...payment, refundedMinor }
  await takeDecided(tx, desk, after, decideRefunded(after), { refundedMinor })
}
