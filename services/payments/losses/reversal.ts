import type { Tx } from '#platform/db/open'
import { announce } from '#platform/db/outbox.store'
import { messageIdFor } from '#shared/ids'
import { FreezeOrdered } from '#shared/messages/relay'
import { moneyText } from '#shared/money/text'
import type { Context } from '../context'
import { checkMaxMs, lostMicro } from '../decide'
import { bookReversal, needlesslyRepaid } from '../ledger/book'
import { least, mayBeOnHold } from '../payment'
import { lockPayment, lockWallet, recordPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import { outbox, recordAnomaly } from '../schema.store'
import type { Stance } from '../stance'
import {
  addMadeGood,
  clearLostHolds,
  clearMissing,
  findDueWallets,
  findMissing,
  findNeedless,
  findReversal,
  findWallet,
  hasLostHold,
  moveGivenBack,
  planOrder,
  reclaimLostHolds,
  reclaimMissing,
  recordCleared,
  storeFreeze,
  storeReversal,
  type WalletRow,
} from './refund.store'

// Only top-ups that are never held repay a loss: their AUSD is kept instead of credited. A held payment could
// be reversed in turn.

/**
 * Records the loss of a reversed payment and freezes its wallet, unless the loss is ours: we ordered all that went back. The
 * caller holds the wallet lock.
 */
export async function recordReversal(tx: Tx, context: Context, payment: PaymentRow, isOurs = false): Promise<void> {
  const lost = lostMicro(payment)
  if (lost === 0n) return
  const { id: paymentId, wallet } = payment
  const before = await findReversal(tx, paymentId)
  if (before && before.lostMicro >= lost) return
  await bookReversal(tx, await storeReversal(tx, { paymentId, wallet, lostMicro: lost, isOurs }))
  // guard: what a wallet repaid needlessly covers its other losses before it is owed back
  await coverByNeedless(tx, context, wallet)
  const fields = { paymentId, wallet, lostMicro: String(lost) }
  if (isOurs) context.log.alarm(fields, 'refunded more than was paid, by our own orders')
  else context.log.alarm(fields, 'payment reversed after hold, wallet frozen')
  await followFreeze(tx, context, wallet)
}

/** Reduces a stored loss after part of the reversal was undone; the rest may be ours. The caller holds the wallet lock. */
export async function shrinkReversal(tx: Tx, context: Context, payment: PaymentRow, isOurs: boolean): Promise<void> {
  const { id: paymentId, wallet, account } = payment
  const before = await findReversal(tx, paymentId)
  const lost = lostMicro(payment)
  if (!before || before.lostMicro <= lost) return
  await bookReversal(tx, await storeReversal(tx, { paymentId, wallet, lostMicro: lost, isOurs }))
  // guard: what a wallet repaid needlessly covers its other losses before it is owed back
  await coverByNeedless(tx, context, wallet)
  const needlessMicro = needlesslyRepaid((await findReversal(tx, paymentId))!)
  if (needlessMicro > 0n) {
    await recordAnomaly(tx, { kind: 'repaid_needlessly', account, object: paymentId, paymentId })
    context.log.alarm(
      { paymentId, wallet, needlessMicro: String(needlessMicro) },
      'reversal undone after it was repaid: give it back to the wallet',
    )
  }
  await followFreeze(tx, context, wallet)
}

/**
 * Covers the losses of a wallet with what it repaid needlessly of others, oldest first: it is owed back only what it does not
 * owe itself. The caller holds the wallet lock.
 */
async function coverByNeedless(tx: Tx, { log }: Context, wallet: PaymentRow['wallet']): Promise<void> {
  const missing = await findMissing(tx, wallet)
  if (missing.length === 0) return
  const open = new Map(
    missing.map(({ paymentId, lostMicro: lost, madeGoodMicro }) => [paymentId, lost - madeGoodMicro]),
  )
  for (const needless of await findNeedless(tx, wallet)) {
    let left = needlesslyRepaid(needless)
    for (const [paymentId, openMicro] of open) {
      const taken = least(openMicro, left)
      if (taken === 0n) continue
      await addMadeGood(tx, paymentId, taken)
      open.set(paymentId, openMicro - taken)
      left -= taken
      const fields = { paymentId, wallet, from: needless.paymentId, takenMicro: String(taken) }
      log.info(fields, 'needless repayment covered another reversal')
    }
    const takenMicro = needlesslyRepaid(needless) - left
    await addMadeGood(tx, needless.paymentId, -takenMicro)
    await bookReversal(tx, { ...needless, madeGoodMicro: needless.madeGoodMicro - takenMicro })
  }
}

/**
 * Freezes the wallet because money of the payment may be going back and nothing else keeps it: the payment has no hold, the
 * hold is over, or it could not be kept. The wallet is frozen once, because an operator may have cleared it since, and again
 * if `hasGrown`: more may be going back than the operator can have seen. Returns the updated row.
 */
export async function freezeInDoubt(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  hasGrown = false,
): Promise<PaymentRow> {
  const { id: paymentId, wallet, state, lostHold } = payment
  if (lostHold && !hasGrown) return payment
  await recordPayment(tx, paymentId, { lostHold: 'frozen' })
  const fields = { paymentId, wallet, state }
  if (mayBeOnHold(payment)) context.log.alarm(fields, 'hold could not be kept, wallet frozen')
  else context.log.alarm(fields, 'money may be going back, wallet frozen')
  // The order gets a new revision even if the wallet is frozen already, because no operator has seen this doubt.
  await storeAndOrder(tx, context, { wallet, frozen: true })
  return { ...payment, lostHold: 'frozen' }
}

/**
 * Freezes or frees the wallet as the stance of one of its payments says. Money on hold is left to the checks of its hold. The
 * caller holds the wallet lock.
 */
export async function followStance(tx: Tx, context: Context, payment: PaymentRow, stance: Stance): Promise<void> {
  if (stance === 'freeze') await freezeInDoubt(tx, context, payment)
  if (stance !== 'free' || payment.lostHold === null) return
  await recordPayment(tx, payment.id, { lostHold: null })
  await followFreeze(tx, context, payment.wallet)
}

/**
 * Makes the freeze follow a step by which a payment begins anew, without the doubt about what it gave before. To be called
 * after the stance of the payment was followed.
 */
export async function followRestart(
  tx: Tx,
  context: Context,
  before: Pick<PaymentRow, 'lostHold'>,
  { lostHold, wallet }: Pick<PaymentRow, 'lostHold' | 'wallet'>,
): Promise<void> {
  if (before.lostHold !== null && lostHold === null) await followFreeze(tx, context, wallet)
}

/** Freezes the wallet while it has a loss or a payment of which money may be going back, and otherwise unfreezes it. */
export async function followFreeze(tx: Tx, context: Context, wallet: PaymentRow['wallet']) {
  const frozen = (await findMissing(tx, wallet)).length > 0 || (await hasLostHold(tx, wallet))
  await setFrozen(tx, context, wallet, frozen)
}

/**
 * Uses a top-up to repay losses, oldest first, and returns the amount used (10⁻⁶ AUSD). The caller holds the
 * wallet lock.
 */
export async function makeGood(
  tx: Tx,
  context: Context,
  { id, wallet }: PaymentRow,
  ausdMicro: bigint,
): Promise<bigint> {
  const missing = await findMissing(tx, wallet)
  let left = ausdMicro
  for (const { paymentId, lostMicro: lost, madeGoodMicro } of missing) {
    const open = lost - madeGoodMicro
    if (left === 0n) break
    const taken = least(open, left)
    await addMadeGood(tx, paymentId, taken)
    left -= taken
  }
  const taken = ausdMicro - left
  if (taken === 0n) return 0n
  context.log.info({ paymentId: id, wallet, takenMicro: String(taken) }, 'payment covered an earlier reversal')
  await followFreeze(tx, context, wallet)
  return taken
}

const rowsMax = 50

/** Resends freeze orders that the chain has not confirmed. Returns true if any was due. */
export async function recheckWallets(context: Context): Promise<boolean> {
  const { database, clock, recheckAfterMs } = context
  const now = new Date(clock())
  const due = await database.read((db) => findDueWallets(db, now, rowsMax))
  for (const { wallet, retryAt } of due)
    await database.transaction(async (tx) => {
      lockWallet(tx, wallet)
      const row = await findWallet(tx, wallet)
      if (!row || row.retryAt?.getTime() !== retryAt!.getTime()) return
      const waitMs = Math.min(recheckAfterMs * 4, checkMaxMs)
      await planOrder(tx, wallet, new Date(clock() + waitMs))
      orderFreeze(tx, row, clock())
    })
  return due.length > 0
}

/** Returns what losses leave to be made good, in 10⁻⁶ AUSD. */
export const sumMissing = (losses: readonly { readonly lostMicro: bigint; readonly madeGoodMicro: bigint }[]): bigint =>
  losses.reduce((sum, { lostMicro: lost, madeGoodMicro }) => sum + lost - madeGoodMicro, 0n)

/**
 * Clears a frozen wallet for an operator, if freeze `revision` and `missing` (10⁻⁶ AUSD) are still those that
 * the operator saw. A retry changes nothing.
 */
export async function clearWallet(
  context: Context,
  wallet: `0x${string}`,
  { by, reason, ...seen }: { by: string; reason: string; revision: string; missing: string },
): Promise<{ done: string } | { refused: string }> {
  const outcome = await context.database.transaction(async (tx) => {
    // guard: a loss is cleared by an operator under the lock of the wallet
    lockWallet(tx, wallet)
    const row = await findWallet(tx, wallet)
    if (!row) return { refused: `${wallet} was never frozen` }
    const since = row.updatedAt.toISOString()
    if (!row.frozen) return { done: `${wallet} is not frozen; last changed at ${since}` }
    const lost = await findMissing(tx, wallet)
    const missing = sumMissing(lost)
    if (String(row.revision) !== seen.revision || String(missing) !== seen.missing)
      return { refused: `the freeze or the losses of ${wallet} have changed: look again` }
    const waived = await clearMissing(tx, wallet)
    for (const one of waived) await bookReversal(tx, one)
    const cleared = [...waived, ...(await clearLostHolds(tx, wallet))].map(({ paymentId }) => paymentId)
    const { frozenByOperator } = row
    await storeAndOrder(tx, context, { wallet, frozen: frozenByOperator })
    if (cleared.length > 0) await recordCleared(tx, wallet, [...new Set(cleared)])
    context.log.info({ wallet, by, reason }, 'wallet freeze cleared by operator')
    if (frozenByOperator) return { done: `${wallet} owes nothing, and stays frozen by an operator: wallets unfreeze` }
    return { done: `${wallet} is no longer frozen; the order to the chain is in progress` }
  })
  context.poke()
  return outcome
}

/**
 * Undoes the latest clearing of a wallet for an operator who saw it as `clearing`, the revision of its order: what it waived
 * is owed again, what it left in doubt freezes the wallet again. A loss that was repaid, undone or due again since, and a
 * doubt that is over, stay as they are. A retry changes nothing.
 */
export async function reclaimCleared(
  context: Context,
  wallet: `0x${string}`,
  { by, reason, clearing }: { by: string; reason: string; clearing: string },
): Promise<{ done: string } | { refused: string }> {
  const outcome = await context.database.transaction(async (tx) => {
    lockWallet(tx, wallet)
    const row = await findWallet(tx, wallet)
    if (!row || row.clearedRevision === null) return { refused: `no clearing of ${wallet} is recorded` }
    // guard: an operator undoes only a clearing that was seen
    if (String(row.clearedRevision) !== clearing) return { refused: `${wallet} was cleared again: look again` }
    const owed = await reclaimMissing(tx, row.clearedPayments)
    for (const one of owed) await bookReversal(tx, one)
    const doubted = await reclaimLostHolds(tx, row.clearedPayments)
    if (owed.length + doubted.length === 0)
      return { done: `nothing of the latest clearing of ${wallet} is waived: it is owed again, repaid or undone` }
    await storeAndOrder(tx, context, { wallet, frozen: true })
    const micro = sumMissing(owed)
    const paymentIds = [...new Set([...owed, ...doubted].map(({ paymentId }) => paymentId))]
    context.log.info({ wallet, paymentIds, micro: String(micro), by, reason }, 'clearing of wallet undone by operator')
    const what = micro > 0n ? `owes ${moneyText(micro, 'AUSD')} again` : 'is in doubt again'
    return {
      done: `${wallet} ${what} for ${paymentIds.join(', ')}, and is frozen; the order to the chain is in progress`,
    }
  })
  context.poke()
  return outcome
}

/**
 * Freezes a wallet for an operator, whatever it owes, or ends that; what it owes keeps it frozen. Refused if freeze
 * `revision` has changed since the operator looked. A retry changes nothing.
 */
export async function freezeByOperator(
  context: Context,
  wallet: `0x${string}`,
  { to, by, reason, revision }: { to: 'frozen' | 'free'; by: string; reason: string; revision: string },
): Promise<{ done: string } | { refused: string }> {
  const outcome = await context.database.transaction(async (tx) => {
    lockWallet(tx, wallet)
    const row = await findWallet(tx, wallet)
    const frozenByOperator = to === 'frozen'
    const said = frozenByOperator ? 'is frozen by an operator' : 'is not frozen by an operator'
    if ((row?.frozenByOperator ?? false) === frozenByOperator) return { done: `${wallet} ${said}` }
    // guard: an operator changes only a freeze that was seen
    if (String(row?.revision ?? 0n) !== revision) return { refused: `the freeze of ${wallet} has changed: look again` }
    const isUnsafe = (await findMissing(tx, wallet)).length > 0 || (await hasLostHold(tx, wallet))
    await storeAndOrder(tx, context, { wallet, frozen: isUnsafe || frozenByOperator, frozenByOperator })
    context.log.info({ wallet, to, by, reason }, 'wallet frozen or freed by operator')
    const still = isUnsafe && !frozenByOperator ? ', but stays frozen for what it owes or may owe' : ''
    return { done: `${wallet} ${said}${still}; the order to the chain is in progress` }
  })
  context.poke()
  return outcome
}

/**
 * Records that an operator gave `micro` (10⁻⁶ AUSD) back to a wallet that had repaid it needlessly. If the
 * loss occurs after all, the amount is due again. A retry changes nothing.
 */
export async function recordGivenBack(
  context: Context,
  paymentId: string,
  { by, reason, micro }: { by: string; reason: string; micro: string },
): Promise<{ done: string } | { refused: string }> {
  return context.database.transaction(async (tx) => {
    if (!(await lockPayment(tx, paymentId))) return { refused: `there is no payment ${paymentId}` }
    const loss = await findReversal(tx, paymentId)
    const needless = loss ? needlesslyRepaid(loss) : 0n
    if (needless === 0n && loss && loss.givenBackMicro > 0n)
      return { done: `${givenBackText(paymentId, loss.givenBackMicro)} before` }
    if (!loss || needless === 0n) return { refused: `nothing of ${paymentId} was repaid needlessly` }
    if (String(needless) !== micro) return { refused: `the needless repayment of ${paymentId} has changed: look again` }
    await bookReversal(tx, await moveGivenBack(tx, paymentId))
    context.log.info({ paymentId, micro, by, reason }, 'needless repayment given back by operator')
    return { done: givenBackText(paymentId, needless) }
  })
}

const givenBackText = (paymentId: string, micro: bigint) =>
  `${moneyText(micro, 'AUSD')} of ${paymentId} were given back`

async function setFrozen(tx: Tx, context: Context, wallet: `0x${string}`, isUnsafe: boolean) {
  const known = await findWallet(tx, wallet)
  const frozenByOperator = known?.frozenByOperator ?? false
  // guard: what an operator froze is freed by an operator alone
  const frozen = isUnsafe || frozenByOperator
  if ((known?.frozen ?? false) !== frozen) await storeAndOrder(tx, context, { wallet, frozen })
}

type Freeze = Pick<WalletRow, 'wallet' | 'frozen'> & Partial<Pick<WalletRow, 'frozenByOperator'>>

async function storeAndOrder(tx: Tx, context: Context, freeze: Freeze) {
  const nowMs = context.clock()
  const retryAt = new Date(nowMs + context.recheckAfterMs)
  orderFreeze(tx, await storeFreeze(tx, { ...freeze, nowMs, retryAt }))
}

/** Orders a freeze or its end. `repeat` gives a resent order its own message id. */
const orderFreeze = (tx: Tx, { wallet, frozen, revision }: WalletRow, repeat = 0) =>
  announce(tx, outbox, FreezeOrdered, messageIdFor(FreezeOrdered, `${wallet}:${revision}`, String(repeat)), {
    wallet,
    frozen,
    revision: String(revision),
  })
