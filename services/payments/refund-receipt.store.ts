import type { Tx } from '#shared/db/open'
import { recordAnomaly } from './anomaly.store'
import type { Context } from './context'
import { isOnHold, paymentIdFrom, remainderFloor } from './payment'
import { lockPayment, notePayment, type PaymentRow } from './payment.store'
import type { FetchedCharge, FetchedRefund } from './payment-provider'
import { decideRefunded } from './receipt'
import { matchPayment, receivePayment } from './receipt.store'
import { type RefundOrigin, recordRefund, sumRefunded } from './refund.store'
import { noteReversal } from './reversal'
import { takeDecided } from './step.store'

/** Money that went back to a payer, whoever sent it there. */
export type ReceivedRefund = FetchedRefund & { readonly origin?: RefundOrigin }

/**
 * A refund that we order carries this and the payment id as its reference: then the loss is ours,
 * and freezes nobody.
 */
export const orderedPrefix = 'ordered-'

/**
 * The one way a refund or a chargeback comes in. It may be told before the payment itself: the
 * payment is then received first, and money that already went back is not credited.
 */
export async function receiveRefund(
  tx: Tx,
  context: Context,
  refund: ReceivedRefund,
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
  const origin = originOf(refund)
  await lockPayment(tx, matched.id)
  await recordRefund(tx, {
    id: refund.refundId,
    paymentId: matched.id,
    providerPaymentId: charge.paymentId,
    refundedMinor,
    status: refund.status,
    origin,
  })
  if (refund.status !== 'succeeded') return
  if (fetched.status === 'succeeded') await receivePayment(tx, context, { charge })
  await count(tx, context, matched.id, { providerPaymentId: charge.paymentId, origin })
}

const originOf = ({ origin, reference }: ReceivedRefund): RefundOrigin => {
  if (origin) return origin
  const ours = reference?.startsWith(orderedPrefix)
  return ours && paymentIdFrom(reference!.slice(orderedPrefix.length)) ? 'ordered' : 'refund'
}

async function count(
  tx: Tx,
  context: Context,
  id: string,
  { providerPaymentId, origin }: { providerPaymentId: string; origin: RefundOrigin },
): Promise<void> {
  const payment = await lockPayment(tx, id)
  // A refund of a second payment gives back what nobody credited: recorded, and no more.
  if (payment?.providerPaymentId !== providerPaymentId) return
  const refundedMinor = await sumRefunded(tx, providerPaymentId)
  if (refundedMinor === payment.refundedMinor) return
  const waived = origin === 'ordered' ? waiverOf(payment, refundedMinor) : {}
  const set = { refundedMinor, ...waived }
  await notePayment(tx, id, set)
  context.log.info({ paymentId: id, state: payment.state, origin }, 'refund recorded')
  const after = { ...payment, ...set }
  const moved = await takeDecided(tx, context, after, decideRefunded(after), set)
  // One that is with a person already may have lost more.
  if (!moved) await noteReversal(tx, context, after)
}

/** What we gave back ourselves, and the chain cannot take back any more, nobody has to make good. */
function waiverOf(payment: PaymentRow, refundedMinor: bigint) {
  const over = ['credited', 'repaid', 'review'].includes(payment.state) && !isOnHold(payment)
  if (!over) return {}
  const givenUp = remainderFloor(payment) - remainderFloor({ ...payment, refundedMinor })
  return {
    waivedMicro: payment.waivedMicro + givenUp,
    refundAppliedMinor: payment.refundAppliedMinor + (refundedMinor - payment.refundedMinor),
  }
}
