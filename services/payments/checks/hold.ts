import { within } from '#shared/deadline'
import { failpoint } from '#shared/failpoint'
import { ChainHold } from '#shared/messages/chain'
import { receiveListed } from '#shared/provider/listing'
import { orderExtension, takeDecided } from '../advance'
import { bookChange } from '../books/book'
import { askOr, type Context } from '../context'
import { decideMatured } from '../decide'
import { isOnHold, refIdOf } from '../payment'
import { lockPayment, notePayment, type PaymentRow } from '../payment.store'
import { noteRefusedLookUp } from '../providers/look-up'
import { receiveRefund, withRate } from '../receive'
import { paymentListing } from '../transactions'

// During a hold the chain can still reverse a refunded payment, so no refund may be missed. Refunds
// are polled, the last time within the margin before the end; if that check fails, the hold is
// extended on the chain. A payment whose refunds are unknown never matures.

const afterEndMs = 1_500
/** Equals the timeout of the provider's client. */
const askMaxMs = 6_000

/**
 * Checks one payment on hold. Returns when to check again, or undefined for the usual time or if
 * the payment has moved.
 */
export async function checkHold(context: Context, payment: PaymentRow): Promise<Date | undefined> {
  const { clock, holdMarginMs, sweepAfterMs } = context
  const startedAt = clock()
  const after = (ms: number) => new Date(clock() + ms)
  const hold = await askOr(context, ChainHold, { refId: refIdOf(payment) }, 'chain_unavailable')
  if ('refused' in hold) return after(Math.min(sweepAfterMs, holdMarginMs / 4))
  const { state, until, blockTime } = hold.ok
  if (state === 'revoked') return undefined
  if (state === 'none') {
    context.log.error({ paymentId: payment.id, alarm: true }, 'hold not found on chain')
    return undefined
  }
  // The chain's clock decides when a hold ends. It counts whole seconds, so up to one more may have
  // passed.
  const leftMs = (Number(until) - Number(blockTime) - 1) * 1_000
  const ended = state === 'released'
  if (ended && payment.clearedAt) {
    await mature(context, payment)
    return undefined
  }
  const untilMarginMs = leftMs - holdMarginMs
  const last = untilMarginMs <= 0
  // Time out early enough for the last check, and in the last check for an extension.
  const deadlineMs = last && !ended ? holdMarginMs / 3 : Math.max(500, untilMarginMs)
  const answered = await refundsAsked(context, payment, Math.min(askMaxMs, deadlineMs))
  failpoint('payments:hold-asked')
  if (ended) {
    if (!answered) return after(sweepAfterMs)
    await mature(context, payment)
    return undefined
  }
  if (!last) return new Date(Math.min(clock() + sweepAfterMs, startedAt + untilMarginMs))
  if (!answered) {
    await extend(context, payment, until!)
    return after(holdMarginMs / 4)
  }
  await noteCleared(context, payment)
  const endMs = startedAt + Math.max(0, leftMs) + afterEndMs
  // A long margin allows more than one last check.
  return new Date(Math.min(endMs, startedAt + sweepAfterMs))
}

/**
 * Receives the refunds of a payment. Returns false if the provider could not be reached in time.
 */
async function refundsAsked(
  context: Context,
  payment: PaymentRow,
  deadlineMs: number,
): Promise<boolean> {
  try {
    await within(receiveRefunds(context, payment), deadlineMs, 'refunds')
    return true
  } catch (error) {
    await noteRefusedLookUp(context, payment, error).catch(() => {})
    context.log.warn({ paymentId: payment.id, err: error }, 'refund lookup failed')
    return false
  }
}

/**
 * Fetches and receives the refunds of a payment. Throws if the provider cannot be reached. If it
 * has no list of refunds, that means "none" only once the transaction list was read too.
 */
async function receiveRefunds(context: Context, payment: PaymentRow): Promise<void> {
  const { provider } = context
  const { account, paymentRequestId, providerPaymentId, paidAt } = payment
  const refunds = paymentRequestId
    ? await provider.listRefunds(account, paymentRequestId)
    : undefined
  if (!refunds) {
    await receiveListed(paymentListing(context), account, paidAt ?? payment.createdAt)
    return
  }
  const done = refunds.filter(({ status }) => status === 'succeeded')
  if (done.length === 0 || !providerPaymentId) return
  const fetched = await withRate(context, await provider.findCharge(account, providerPaymentId))
  if (!fetched) throw new Error(`charge ${providerPaymentId} of ${payment.id} not found`)
  await context.database.transaction(async (tx) => {
    for (const refund of done) await receiveRefund(tx, context, refund, fetched)
  })
}

async function mature(context: Context, { id, part }: PaymentRow): Promise<void> {
  await context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (!row || row.part !== part || !isOnHold(row)) return
    if (row.state !== 'held' && row.state !== 'repaid') return
    const set = { holdEndedAt: new Date(context.clock()) }
    const moved = await takeDecided(tx, context, row, decideMatured(row), set)
    if (moved) return
    await notePayment(tx, id, { ...set, nextCheckAt: null })
    await bookChange(tx, row, { ...row, ...set }, 'hold ended')
    context.log.info({ paymentId: id, state: row.state }, 'hold ended')
  })
  failpoint('payments:hold-ended')
}

/**
 * Records a clean check within the margin. A later refund is found by the list and freezes the
 * wallet.
 */
async function noteCleared(context: Context, { id }: PaymentRow): Promise<void> {
  await context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (row && isOnHold(row)) await notePayment(tx, id, { clearedAt: new Date(context.clock()) })
  })
  failpoint('payments:hold-cleared')
}

async function extend(context: Context, { id, part }: PaymentRow, until: string): Promise<void> {
  await context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (!row || row.part !== part || !isOnHold(row)) return
    await orderExtension(tx, row, until)
    // A clean check counts only for the previous end.
    await notePayment(tx, id, { clearedAt: null })
    context.log.warn({ paymentId: id, until }, 'hold extended, refund lookup failed')
  })
  failpoint('payments:extension-ordered')
}
