import type { Ask } from '#shared/bus/ask'
import type { Database } from '#shared/db/open'
import { within } from '#shared/deadline'
import { ChainHold } from '#shared/messages/chain'
import { receiveListed } from '#shared/provider/listing'
import { askOr } from './asking'
import type { Context } from './context'
import { orderExtension } from './order.store'
import { isOnHold, refIdOf } from './payment'
import { lockPayment, notePayment, type PaymentRow } from './payment.store'
import type { FetchedRefund, PaymentProvider } from './payment-provider'
import { decideMatured } from './receipt'
import { receiveRefund } from './refund-receipt.store'
import { takeDecided } from './step.store'
import { paymentListing } from './transactions'

// While money is held a refund can still be met on the chain, so none may be missed. The provider is
// asked again and again, for the last time within the margin before the end; if it cannot be asked
// then, the hold is extended on the chain. Unknown never matures.

export type HoldChecks = {
  readonly database: Database
  readonly provider: PaymentProvider
  readonly ask: Ask
  readonly context: Context
}

const afterEndMs = 1_500
/** As long as the provider's client allows itself. */
const askMaxMs = 6_000

/**
 * Checks one payment that is on hold. A returned time is when to check again; undefined: as usual,
 * or the payment has moved.
 */
export async function checkHold(
  checks: HoldChecks,
  payment: PaymentRow,
): Promise<Date | undefined> {
  const { ask, context } = checks
  const { clock, holdMarginMs, sweepAfterMs } = context
  const startedAt = clock()
  const after = (ms: number) => new Date(clock() + ms)
  const hold = await askOr(ask, ChainHold, { refId: refIdOf(payment) }, 'chain_unavailable')
  if ('refused' in hold) return after(Math.min(sweepAfterMs, holdMarginMs / 4))
  const { state, until, blockTime } = hold.ok
  if (state === 'revoked') return undefined
  if (state === 'none') {
    context.log.error({ paymentId: payment.id, alarm: true }, 'chain does not know a hold of ours')
    return undefined
  }
  // By the chain's clock, which decides when a hold ends, and counts whole seconds: up to one more
  // may have passed than it shows.
  const leftMs = (Number(until) - Number(blockTime) - 1) * 1_000
  const ended = state === 'released'
  if (ended && payment.clearedAt) {
    await mature(checks, payment)
    return undefined
  }
  const untilMarginMs = leftMs - holdMarginMs
  const last = untilMarginMs <= 0
  // A provider that hangs is given up on in time for the last look, and in that for an extension.
  const deadlineMs = last && !ended ? holdMarginMs / 3 : Math.max(500, untilMarginMs)
  const answered = await refundsAsked(checks, payment, Math.min(askMaxMs, deadlineMs))
  if (ended) {
    if (!answered) return after(sweepAfterMs)
    await mature(checks, payment)
    return undefined
  }
  if (!last) return new Date(Math.min(clock() + sweepAfterMs, startedAt + untilMarginMs))
  if (!answered) {
    await extend(checks, payment, until!)
    return after(holdMarginMs / 4)
  }
  await noteCleared(checks, payment)
  const endMs = startedAt + Math.max(0, leftMs) + afterEndMs
  // Where the margin is long there is time for more than one last look.
  return new Date(Math.min(endMs, startedAt + sweepAfterMs))
}

/** True when the provider said what refunds there are; they are received by then. */
async function refundsAsked(
  { database, provider, context }: HoldChecks,
  payment: PaymentRow,
  deadlineMs: number,
): Promise<boolean> {
  try {
    await within(receiveRefunds(database, provider, context, payment), deadlineMs, 'refunds')
    return true
  } catch (error) {
    context.log.warn({ paymentId: payment.id, err: error }, 'refunds could not be asked for')
    return false
  }
}

/**
 * Asks for the refunds of a payment and receives them. Throws when the provider cannot be asked. That
 * it has no list of refunds counts as "none" only beside a look at its list of transactions.
 */
async function receiveRefunds(
  database: Database,
  provider: PaymentProvider,
  context: Context,
  payment: PaymentRow,
): Promise<void> {
  const { account, paymentRequestId, providerPaymentId, paidAt } = payment
  const refunds = paymentRequestId
    ? await provider.listRefunds(account, paymentRequestId)
    : undefined
  if (!refunds) {
    const since = paidAt ?? payment.createdAt
    await receiveListed(paymentListing({ database, provider, context }), account, since)
    return
  }
  const done = refunds.filter(({ status }: FetchedRefund) => status === 'succeeded')
  if (done.length === 0 || !providerPaymentId) return
  const fetched = await provider.findCharge(account, providerPaymentId)
  if (!fetched) throw new Error(`charge ${providerPaymentId} of ${payment.id} is not there`)
  await database.transaction(async (tx) => {
    for (const refund of done) await receiveRefund(tx, context, refund, fetched)
  })
}

const mature = ({ database, context }: HoldChecks, { id, part }: PaymentRow) =>
  database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (!row || row.part !== part || !isOnHold(row)) return
    if (row.state !== 'held' && row.state !== 'repaid') return
    const set = { holdEndedAt: new Date(context.clock()) }
    const moved = await takeDecided(tx, context, row, decideMatured(row), set)
    if (moved) return
    await notePayment(tx, id, { ...set, lookAt: null })
    context.log.info({ paymentId: id, state: row.state }, 'hold ended')
  })

/** A look within the margin found nothing: what comes later is found by the list, and frozen. */
const noteCleared = ({ database, context }: HoldChecks, { id }: PaymentRow) =>
  database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (row && isOnHold(row)) await notePayment(tx, id, { clearedAt: new Date(context.clock()) })
  })

const extend = ({ database, context }: HoldChecks, { id, part }: PaymentRow, until: string) =>
  database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (!row || row.part !== part || !isOnHold(row)) return
    await orderExtension(tx, row, until)
    // An answer from before counts for the old end alone.
    await notePayment(tx, id, { clearedAt: null })
    context.log.warn({ paymentId: id, until }, 'hold extended: the provider cannot be asked')
  })
