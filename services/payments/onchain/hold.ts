import { within } from '#platform/deadline'
import { failpoint } from '#platform/failpoint'
import { ChainHold } from '#shared/messages/chain'
import { askOr, type Context } from '../context'
import { decideMatured } from '../decide'
import { readFreshList } from '../incoming/fresh-list'
import { receiveRowsOf } from '../incoming/provider-list'
import { receiveAgain } from '../incoming/receive'
import { bookChange } from '../ledger/book'
import { followReports } from '../losses/follow'
import { findReports } from '../losses/refund.store'
import { backOf } from '../losses/report'
import { followFreeze, freezeForHold } from '../losses/reversal'
import { isOnHold, needsHold, refIdOf } from '../payment'
import { lockPayment, recordPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import { recordRefusedLookUp } from '../providers/look-up'
import { orderExtension, takeDecided } from './advance'

// The provider is asked about a hold twice: when the hold begins and within the margin before its end.
// README.md lists what ends a hold.

const afterEndMs = 1_500
/** Time allowed for reading charge, refunds and list, in ms; equal to the timeout of the provider's client. */
const askMaxMs = 6_000
/**
 * Age of the first extension at which an alert is raised, in ms. The contract extends a hold by a day at
 * most; this is half of it.
 */
const extendedAlertMs = 43_200_000

/**
 * Checks one hold, and returns when to check it again; undefined means the usual time, or that the payment
 * has moved. `mayAsk` takes one call from the provider's budget; if it returns false, the provider is not
 * asked.
 */
export async function checkHold(
  context: Context,
  payment: PaymentRow,
  mayAsk: (isLast: boolean) => boolean = () => true,
): Promise<Date | undefined> {
  const { clock, holdMarginMs, holdRecheckMs, recheckAfterMs } = context
  const startedAt = clock()
  const after = (ms: number) => new Date(clock() + ms)
  const hold = await askOr(context, ChainHold, { refId: refIdOf(payment) }, 'chain_unavailable')
  if ('refused' in hold) return after(Math.min(recheckAfterMs, holdMarginMs / 4))
  const { state, until, blockTime } = hold.ok
  if (state === 'revoked') return undefined
  if (state === 'none') {
    context.log.error({ paymentId: payment.id, alarm: true }, 'hold not found on chain')
    return undefined
  }
  // The chain's clock decides. It counts whole seconds, so almost one more second may have passed.
  const leftMs = (Number(until) - Number(blockTime) - 1) * 1_000
  const ended = state === 'released'
  // A revocation is ordered, and the hold must not end before it is final.
  const isGoing = payment.state === 'revoking'
  if (ended && payment.refundsCheckedAt && !isGoing) {
    await mature(context, payment)
    return undefined
  }
  const last = leftMs <= holdMarginMs
  if (!last && !ended) {
    if (!isGoing && payment.checks <= 1 && mayAsk(false))
      await isClear(context, payment, Math.min(askMaxMs, leftMs - holdMarginMs))
    failpoint('payments:hold-asked')
    // The hold is read again long before its end, because the chain's clock need not keep pace with ours.
    const restMs = Math.min(leftMs - holdMarginMs, holdRecheckMs)
    return new Date(Math.max(clock(), startedAt + restMs))
  }
  if (!isGoing && !mayAsk(true)) {
    if (ended) await keepFrozen(context, payment)
    else if (leftMs <= (holdMarginMs * 2) / 3) await extend(context, payment, until!)
    return after(holdMarginMs / 8)
  }
  const deadlineMs = Math.min(askMaxMs, ended ? askMaxMs : holdMarginMs / 3)
  const clear = !isGoing && (await isClear(context, payment, deadlineMs))
  failpoint('payments:hold-asked')
  if (ended) {
    // guard: a hold does not end before the provider was asked
    if (clear) await mature(context, payment)
    else await keepFrozen(context, payment)
    return clear ? undefined : after(recheckAfterMs)
  }
  if (!clear) {
    // guard: a hold is extended while the provider does not respond
    await extend(context, payment, until!)
    return after(holdMarginMs / 4)
  }
  await recordCleared(context, payment)
  const endMs = startedAt + Math.max(0, leftMs) + afterEndMs
  // If the margin is long, the hold is checked more than once within it.
  return new Date(Math.min(endMs, startedAt + recheckAfterMs))
}

/** Returns true only if everything could be read in time and nothing more has gone back or may be on its way. */
async function isClear(context: Context, payment: PaymentRow, deadlineMs: number): Promise<boolean> {
  try {
    await within(receiveAll(context, payment), deadlineMs, 'refunds')
  } catch (error) {
    await recordRefusedLookUp(context, payment, error).catch(() => {})
    context.log.warn({ paymentId: payment.id, err: error }, 'refund lookup failed')
    return false
  }
  return context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, payment.id)
    if (!row?.providerPaymentId) return false
    const reports = await findReports(tx, row.providerPaymentId)
    const { goneMinor, isOpen } = backOf(reports, row.paidMinor ?? row.fiatMinor)
    return !isOpen && goneMinor === row.refundAppliedMinor
  })
}

/** Receives charge, refunds and list rows of a payment. Throws if one of them cannot be read. */
async function receiveAll(context: Context, payment: PaymentRow): Promise<void> {
  await receiveAgain(context, payment)
  // guard: a 404 for refunds is inconclusive until the list was read
  const rows = await readFreshList(context, payment)
  await receiveRowsOf(context, payment, rows)
  await context.database.transaction((tx) => followReports(tx, context, payment.id))
}

/** Returns true if nothing was revoked since the row was read. */
const isWhole = (row: PaymentRow, { refSequence, onchainMicro }: PaymentRow): boolean =>
  row.refSequence === refSequence && row.onchainMicro === onchainMicro

async function mature(context: Context, payment: PaymentRow): Promise<void> {
  const { id } = payment
  await context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (!row || !isWhole(row, payment) || !isOnHold(row)) return
    if (row.state !== 'held' && row.state !== 'repaid') return
    const set = { holdEndedAt: new Date(context.clock()), lostHold: null }
    const moved = await takeDecided(tx, context, row, decideMatured(row), set)
    if (!moved) await recordPayment(tx, id, { ...set, nextCheckAt: null })
    if (!moved) await bookChange(tx, row, { ...row, ...set }, 'hold ended')
    context.log.info({ paymentId: id, state: row.state }, 'hold ended')
    if (row.lostHold) await followFreeze(tx, context, row.wallet)
  })
  failpoint('payments:hold-ended')
}

/** Records a clean refund check. A refund after it is found by the list and freezes the wallet. */
async function recordCleared(context: Context, payment: PaymentRow): Promise<void> {
  const { id } = payment
  await context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    // guard: a check of a hold that began before a part was revoked clears nothing
    if (row && isWhole(row, payment) && needsHold(row))
      await recordPayment(tx, id, { refundsCheckedAt: new Date(context.clock()) })
  })
  failpoint('payments:hold-cleared')
}

async function extend(context: Context, { id, refSequence }: PaymentRow, until: string): Promise<void> {
  const now = new Date(context.clock())
  await context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (!row || row.refSequence !== refSequence || !needsHold(row)) return
    await orderExtension(tx, row, until)
    const extendedAt = row.extendedAt ?? now
    // guard: a response counts only for the hold end it was requested for
    await recordPayment(tx, id, { refundsCheckedAt: null, extendedAt })
    const alarm = now.getTime() - extendedAt.getTime() > extendedAlertMs
    const fields = { paymentId: id, state: row.state, until, extendedAt, alarm }
    context.log[alarm ? 'error' : 'warn'](fields, 'hold extended, money may be going back')
  })
  failpoint('payments:extension-ordered')
}

async function keepFrozen(context: Context, { id, refSequence }: PaymentRow): Promise<void> {
  await context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (row && row.refSequence === refSequence && needsHold(row)) await freezeForHold(tx, context, row)
  })
}
