import type { Tx } from '#platform/db/open'
import { failpoint } from '#platform/failpoint'
import { money } from '#shared/money/money'
import { moneyText } from '#shared/money/text'
import { type ProblemMeaning, ProviderBusy, type ProviderRefusal } from '#shared/provider/problem'
import type { Context } from '../context'
import { receiveRefund, withRate } from '../incoming/receive'
import { findReports } from '../losses/refund.store'
import { backOf } from '../losses/report'
import { takeStep } from '../onchain/advance'
import { orderedReference } from '../payment'
import type { PaymentRow } from '../payment.table'
import type { FetchedCharge, FetchedRefund } from '../provider'
import { listRefundsOf } from '../providers/look-up'
import { endRefunding } from './refund-outcome'
import {
  countOrders,
  countRequest,
  findOrders,
  insertOrders,
  type RefundOrderRow,
  recordOrder,
  uncountRequest,
} from './resolution.store'

// The provider may not support idempotency keys here. So each refund is stored and each request counted
// before it is sent, after a lookup; a request without a response is retried only if its refund is not listed
// after a while.

/** Time for which a new refund may be missing from lookups, in ms. */
export const showsWithinMs = 60_000

/** A charge to refund: what is left of it, in smallest units. */
type Owed = Pick<RefundOrderRow, 'providerPaymentId' | 'minor' | 'isSecond'>

/** Orders a refund for each charge of a payment. Refused if nothing is left, or if a charge was refunded by us before. */
export async function orderRefunds(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  owed: readonly Owed[],
): Promise<{ done: string } | { refused: string }> {
  const { id, account, currency } = payment
  if (owed.length === 0) return { refused: 'nothing to refund: the money was applied or refunded already' }
  // We refund each charge only once.
  const again = (await findOrders(tx, id)).find((order) =>
    owed.some((one) => one.providerPaymentId === order.providerPaymentId),
  )
  if (again)
    return {
      refused: `${again.providerPaymentId} was refunded in part as ${again.reference}: refund the rest in the provider's dashboard`,
    }
  const before = await countOrders(tx, id)
  const orders = owed.map(({ providerPaymentId, minor, isSecond }, at) => ({
    providerPaymentId,
    minor,
    isSecond,
    paymentId: id,
    account,
    currency,
    reference: orderedReference(id, before + at + 1),
  }))
  await insertOrders(tx, orders)
  await takeStep(tx, context, payment, { next: 'refunding' })
  const words = orders.map(({ minor, reference }) => `${moneyText(minor, currency)} as ${reference}`)
  return { done: `${id}: refund to the payer ordered: ${words.join(', ')}` }
}

/** Continues all open refunds of a payment, then throws the first error if there was one. */
export async function checkRefunds(context: Context, payment: PaymentRow): Promise<void> {
  const orders = await context.database.read((db) => findOrders(db, payment.id))
  const faults: unknown[] = []
  for (const order of orders)
    if (order.state === 'open') await carryOn(context, order).catch((error) => faults.push(error))
  await context.database.transaction((tx) => endRefunding(tx, context, payment.id))
  if (faults.length > 0) throw faults[0]
}

async function carryOn(context: Context, order: RefundOrderRow): Promise<void> {
  const { provider, clock } = context
  const { account, providerPaymentId, reference, minor, requests, requestedAt } = order
  const fetched = await provider.findCharge(account, providerPaymentId)
  if (!fetched) throw new Error(`charge ${providerPaymentId} of ${reference} not found`)
  const { paymentRequestId, paidMinor } = fetched.charge
  if (!paymentRequestId && requests > 0)
    throw new Error(`charge ${providerPaymentId} of ${reference} came without its payment request`)
  if (!paymentRequestId) return giveUp(context, order, 'NO_PAYMENT_REQUEST')
  const shown = await listRefundsOf(provider, fetched.charge)
  const ours = shown?.find((one) => one.reference === reference)
  // guard: a refund is looked up before it is requested again
  if (ours) return recordRefund(context, ours, fetched)
  // A refund that was reported before exists, even if it is missing from this lookup.
  if (order.refundId) return
  const isUnknown = requests > 0 && (!shown || clock() - requestedAt!.getTime() < showsWithinMs)
  // guard: a refund without a response is not requested again before it would be listed
  if (isUnknown) return
  for (const one of shown ?? []) await recordRefund(context, one, fetched)
  const reports = await context.database.read((db) => findReports(db, providerPaymentId))
  const { goneMinor, isOpen } = backOf(reports, paidMinor ?? minor)
  // The charge may have been refunded in the provider's dashboard since, or disputed; the provider pays each of them.
  // guard: a refund is looked up before it is requested again
  if (isOpen || (paidMinor ?? minor) - goneMinor < minor) return giveUp(context, order, 'REFUNDED_MEANWHILE')
  await request(context, order, fetched, paymentRequestId)
}

async function request(
  context: Context,
  order: RefundOrderRow,
  fetched: FetchedCharge,
  paymentRequestId: string,
): Promise<void> {
  const { account, reference, minor, currency, isSecond } = order
  failpoint('payments:refund-ordered')
  if (!(await context.database.run((db) => countRequest(db, order)))) return
  failpoint('payments:before-refund')
  const fiat = money(minor, currency)
  const asked = { account, paymentRequestId, reference, fiat, isSecond }
  const answer = await context.provider.createRefund(asked).catch(async (error) => {
    if (error instanceof ProviderBusy) await uncount(context, order)
    throw error
  })
  failpoint('payments:refund-answered')
  if ('ok' in answer) return recordRefund(context, answer.ok, fetched)
  return refused(context, order, answer.refused)
}

/** Refusals that an earlier request of unknown outcome may have caused. */
const ofAnEarlier: readonly ProblemMeaning[] = ['conflict', 'state_wrong', 'amount_outside_limits', 'unknown']
/** Temporary refusals that are not about the payment. */
const ofTheMoment: readonly ProblemMeaning[] = ['try_later', 'account_misconfigured']

async function refused(context: Context, order: RefundOrderRow, refusal: ProviderRefusal) {
  const { meaning, code } = refusal
  const isRepeat = order.requests > 0
  if (ofTheMoment.includes(meaning)) return uncount(context, order)
  if (!isRepeat || !ofAnEarlier.includes(meaning)) return giveUp(context, order, code)
  const fields = { paymentId: order.paymentId, reference: order.reference, code }
  context.log.alarm(fields, 'refund refused, earlier request not found')
}

/**
 * Takes back the count of a request that had no effect. With the count, a refund that the provider does not
 * list would never be requested again.
 */
async function uncount(context: Context, order: RefundOrderRow): Promise<void> {
  await context.database.run((db) => uncountRequest(db, order))
}

/** Receives a refund in the same way as its webhook would. */
async function recordRefund(context: Context, refund: FetchedRefund, fetched: FetchedCharge) {
  const priced = await withRate(context, fetched)
  await context.database.transaction((tx) => receiveRefund(tx, context, refund, priced!))
  failpoint('payments:refund-learned')
  context.poke()
}

/** Fails an order after a permanent refusal: no money was sent, and an operator has to decide again. */
const giveUp = (context: Context, order: RefundOrderRow, failureCode: string) =>
  context.database.transaction(async (tx: Tx) => {
    const { paymentId, reference } = order
    if (!(await recordOrder(tx, reference, { state: 'failed', failureCode }))) return
    context.log.alarm({ paymentId, reference, failureCode }, 'refund refused')
    await endRefunding(tx, context, paymentId)
  })
