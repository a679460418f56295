import { within } from '#platform/deadline'
import { failpoint } from '#platform/failpoint'
import { ChainHold, ChainTerms } from '#shared/messages/chain'
import { askOr, type Context } from '../context'
import { decideMatured } from '../decide'
import { recheckDisputesOf } from '../incoming/dispute'
import { readFreshList } from '../incoming/fresh-list'
import { receiveRowsOf } from '../incoming/provider-list'
import { receiveAgain } from '../incoming/receive'
import { bookChange } from '../ledger/book'
import { followDoubt, followReports, reportedOf } from '../losses/follow'
import { followFreeze, freezeInDoubt } from '../losses/reversal'
import { isOnHold, mayBeOnHold, refIdOf } from '../payment'
import { lockPayment, recordPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import { recordRefusedLookUp } from '../providers/look-up'
import { type HoldPhase, type Stance, stanceOf } from '../stance'
import { orderExtension, takeDecided } from './advance'
import { decideHold, keepMsOf, planHold } from './decide-hold'

// The provider is asked about a hold twice: when the hold begins and within the margin before its end; in doubt more often.
// README.md lists what ends a hold.

/**
 * Age of the first extension at which an alert is raised, in ms. The contract extends a hold by a day at
 * most; this is half of it.
 */
const extendedAlertMs = 43_200_000

/**
 * Checks one hold as `decideHold` decides, and returns when to check it again; undefined means the usual time, or that the
 * payment has moved. `mayAsk` takes one call from the provider's budget; if it returns false, the provider is not asked.
 */
export async function checkHold(
  context: Context,
  payment: PaymentRow,
  mayAsk: (isLast: boolean) => boolean = () => true,
): Promise<Date | undefined> {
  const { clock, holdMarginMs: marginMs, holdRecheckMs, recheckAfterMs: recheckMs } = context
  const startedAt = clock()
  const after = (ms: number) => new Date(clock() + ms)
  const hold = await askOr(context, ChainHold, { refId: refIdOf(payment) }, 'chain_unavailable')
  const isReported = payment.state !== 'paid'
  // A hold begins with its order at any moment. It is looked for often only if the money is known to be going back.
  if ('refused' in hold)
    return isReported || (await isDoubtful(context, payment)) ? after(Math.min(recheckMs, marginMs / 4)) : undefined
  const { state, until, blockTime } = hold.ok
  // The chain's clock decides. It counts whole seconds, so almost one more second may have passed.
  const leftMs = (Number(until) - Number(blockTime) - 1) * 1_000
  const isRevoking = payment.state === 'revoking'
  const isInDoubt = state === 'held' && (isRevoking || (await isDoubtful(context, payment)))
  const facts = {
    state,
    leftMs,
    isReported,
    isRevoking,
    isCleared: payment.refundsCheckedAt !== null,
    isFirstLook: payment.checks <= 1,
    isInDoubt,
  }
  const keepMs = state === 'held' ? await readKeepMs(context) : marginMs
  const plan = planHold(facts, { marginMs, keepMs })
  if ('act' in plan) {
    if (plan.act === 'reportMissing') context.log.alarm({ paymentId: payment.id }, 'hold not found on chain')
    if (plan.act === 'mature') await mature(context, payment)
    return plan.act === 'await' && (await isDoubtful(context, payment)) ? after(recheckMs) : undefined
  }
  const { phase } = plan
  const unread = phase === 'early' && isInDoubt ? 'extend' : stanceOf(payment, 'unread', phase)
  let stance: Stance | 'unasked' = unread
  if (plan.mayAsk && mayAsk(phase !== 'early')) stance = await askStance(context, payment, { ...plan, unread })
  else if (plan.mayAsk && phase !== 'early') stance = 'unasked'
  failpoint('payments:hold-asked')
  const { act, next } = decideHold(phase, stance, leftMs, { marginMs, keepMs, recheckMs, holdRecheckMs })
  if (act === 'mature') await mature(context, payment)
  if (act === 'extend') await extend(context, payment, until!)
  if (act === 'freeze') await keepFrozen(context, payment)
  if (act === 'recordCleared') await recordCleared(context, payment)
  if (!next) return undefined
  return 'inMs' in next ? after(next.inMs) : new Date(Math.max(clock(), startedAt + next.sinceStartMs))
}

/** Returns `keepMs` of `HoldTerms`; the margin if the contract's terms cannot be read. */
async function readKeepMs(context: Context): Promise<number> {
  const terms = await askOr(context, ChainTerms, {}, 'chain_unavailable')
  return 'ok' in terms ? keepMsOf(terms.ok.holdSeconds * 1_000, context.holdMarginMs) : context.holdMarginMs
}

/** Asks the provider for everything about the payment. Returns `unread` if that is impossible in time. */
async function askStance(
  context: Context,
  payment: PaymentRow,
  { phase, deadlineMs, unread }: { readonly phase: HoldPhase; readonly deadlineMs: number; readonly unread: Stance },
): Promise<Stance> {
  try {
    await within(receiveAll(context, payment), deadlineMs, 'refunds')
  } catch (error) {
    await recordRefusedLookUp(context, payment, error).catch(() => {})
    context.log.warn({ paymentId: payment.id, err: error }, 'refund lookup failed')
    return unread
  }
  return context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, payment.id)
    if (!row?.providerPaymentId) return unread
    return stanceOf(row, await reportedOf(tx, row), phase)
  })
}

/** Returns true if part of the payment is known to have gone back since it was ordered, or may be on its way back. */
const isDoubtful = (context: Context, payment: PaymentRow): Promise<boolean> =>
  context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, payment.id)
    return row !== undefined && stanceOf(row, await reportedOf(tx, row), 'ended') === 'freeze'
  })

/** Receives charge, refunds, open disputes and list rows of a payment. Throws if one of them cannot be read. */
async function receiveAll(context: Context, payment: PaymentRow): Promise<void> {
  await receiveAgain(context, payment)
  await recheckDisputesOf(context, payment)
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
    // During the hold, no report about a second charge has frozen the wallet.
    if (row.overpaidMinor > 0n) await followDoubt(tx, context, moved ?? { ...row, ...set })
  })
  failpoint('payments:hold-ended')
}

/** Records a clean refund check. A refund after it is found by the list and freezes the wallet. */
async function recordCleared(context: Context, payment: PaymentRow): Promise<void> {
  const { id } = payment
  await context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    // guard: a check of a hold that began before a part was revoked clears nothing
    if (row && isWhole(row, payment) && mayBeOnHold(row))
      await recordPayment(tx, id, { refundsCheckedAt: new Date(context.clock()) })
  })
  failpoint('payments:hold-cleared')
}

async function extend(context: Context, { id, refSequence }: PaymentRow, until: string): Promise<void> {
  const now = new Date(context.clock())
  await context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (!row || row.refSequence !== refSequence || !mayBeOnHold(row)) return
    orderExtension(tx, row, until)
    const extendedAt = row.extendedAt ?? now
    // guard: a response counts only for the hold end it was requested for
    await recordPayment(tx, id, { refundsCheckedAt: null, extendedAt })
    const isLong = now.getTime() - extendedAt.getTime() > extendedAlertMs
    const fields = { paymentId: id, state: row.state, until, extendedAt }
    context.log[isLong ? 'alarm' : 'warn'](fields, 'hold extended, money may be going back')
  })
  failpoint('payments:extension-ordered')
}

async function keepFrozen(context: Context, { id, refSequence }: PaymentRow): Promise<void> {
  await context.database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (row && row.refSequence === refSequence && mayBeOnHold(row)) await freezeInDoubt(tx, context, row)
  })
}
