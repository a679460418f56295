import type { Tx } from '#platform/db/open'
import type { Context } from '../context'
import { takeDecided } from '../onchain/advance'
import { isOrderedByUs } from '../payment'
import { lockPayment } from '../payment.store'
import type { FetchedRefund } from '../provider'
import { decideRefunding } from './resolution'
import { findOrder, findOrders, givenUp, recordOrder } from './resolution.store'

export async function recordRefundOutcome(tx: Tx, { log }: Context, refund: FetchedRefund): Promise<void> {
  const { reference, refundId, status } = refund
  if (reference === null) return
  const state = status === 'succeeded' ? status : status === 'dead' ? 'failed' : 'open'
  const noted = await recordOrder(tx, reference, { state, refundId })
  if (noted?.state === 'failed') log.alarm({ paymentId: noted.paymentId, reference, refundId }, 'refund failed')
}

/**
 * Returns true for a refund that we ordered, whose loss we bear. One that an operator gave up counts like any other refund if
 * it was made after all, because its payment was decided about without it, unless that decision was to refund it again.
 */
export async function isOrdered(tx: Tx, { reference }: Pick<FetchedRefund, 'reference'>): Promise<boolean> {
  if (!isOrderedByUs(reference)) return false
  const order = await findOrder(tx, reference!)
  if (order?.failureCode !== givenUp) return true
  const { paymentId, providerPaymentId } = order
  // guard: a refund that was given up counts like one that we did not order
  return (await findOrders(tx, paymentId)).some((one) => one.providerPaymentId === providerPaymentId)
}

export async function endRefunding(tx: Tx, context: Context, paymentId: string): Promise<void> {
  const payment = await lockPayment(tx, paymentId)
  if (payment?.state !== 'refunding') return
  const orders = await findOrders(tx, paymentId)
  const step = decideRefunding(
    payment,
    orders.map(({ state }) => state),
  )
  await takeDecided(tx, context, payment, step)
}
