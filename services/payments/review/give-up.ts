import type { Tx } from '#platform/db/open'
import type { RefundGiveUp } from '#shared/messages/payments'
import type { ReadRequestOf } from '#shared/messages/topic'
import type { Context } from '../context'
import { receiveRefund, withRate } from '../incoming/receive'
import { lockPayment } from '../payment.store'
import { listRefundsOf } from '../providers/look-up'
import { showsWithinMs } from './refund'
import { endRefunding } from './refund-outcome'
import { findOrder, givenUp, giveUpOrder, type RefundOrderRow } from './resolution.store'

/**
 * Ends a refund for an operator, who knows from the provider that it was not made: a request had no response, no look-up
 * finds it, and the provider refuses another; or the provider refuses every request for now. Its payment needs a decision
 * again. A retry changes nothing.
 */
export async function giveUpRefund(
  context: Context,
  { paymentId, reference, by, reason }: ReadRequestOf<typeof RefundGiveUp>,
): Promise<{ done: string } | { refused: string }> {
  const order = await context.database.read((db) => findOrder(db, reference))
  if (order?.paymentId !== paymentId) return { refused: `${paymentId} has no refund ${reference}` }
  if (order.failureCode === givenUp) return { done: `${reference} was given up before` }
  const fault = faultOf(order, context.clock())
  if (fault) return { refused: `${reference} ${fault}` }
  if (await isFound(context, order)) return { refused: `${reference} was made: its payment follows it now` }
  const outcome = await context.database.transaction(async (tx: Tx) => {
    await lockPayment(tx, paymentId)
    if (!(await giveUpOrder(tx, order))) return { refused: `${reference} has just changed: look again` }
    await endRefunding(tx, context, paymentId)
    return { done: `${reference} is given up, and ${paymentId} needs a decision again` }
  })
  if ('done' in outcome) context.log.info({ paymentId, reference, by, reason }, 'refund given up by operator')
  context.poke()
  return outcome
}

/** Returns why a refund cannot be given up, in words that follow its reference. */
export function faultOf(
  { state, requests, requestedAt, refundId }: Pick<RefundOrderRow, 'state' | 'requests' | 'requestedAt' | 'refundId'>,
  nowMs: number,
): string | undefined {
  if (state !== 'open') return state === 'failed' ? 'has failed already' : 'has succeeded'
  // guard: a refund that the provider knows is not given up
  if (refundId) return `was made as ${refundId}: wait for its outcome`
  // Each request so far certainly had no effect, as while the provider refuses refunds of the account.
  if (requests === 0) return undefined
  // guard: a refund is not given up before a look-up would show it
  if (nowMs - requestedAt!.getTime() < showsWithinMs) return 'was requested a moment ago: wait a minute'
  return undefined
}

/** Looks the refund up, and receives it if the provider has it. Throws if the provider cannot be read. */
async function isFound(context: Context, { account, providerPaymentId, reference }: RefundOrderRow): Promise<boolean> {
  const { provider, database } = context
  const charge = await provider.findCharge(account, providerPaymentId)
  if (!charge) throw new Error(`charge ${providerPaymentId} of ${reference} not found`)
  const ours = (await listRefundsOf(provider, charge.charge))?.find((one) => one.reference === reference)
  if (!ours) return false
  const fetched = (await withRate(context, charge))!
  await database.transaction((tx) => receiveRefund(tx, context, ours, fetched))
  return true
}
