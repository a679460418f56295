import type { Database, Tx } from '#shared/db/open'
import { announce } from '#shared/db/outbox.store'
import { idFor } from '#shared/ids'
import { FreezeOrdered } from '#shared/messages/relay'
import type { Context } from './context'
import { lockWallet, type PaymentRow } from './payment.store'
import { lostMicro } from './receipt'
import { outbox } from './schema.store'
import {
  addMadeGood,
  clearMissing,
  findDueWallets,
  findMissing,
  findWallet,
  planOrder,
  storeFreeze,
  storeReversal,
  type WalletRow,
} from './wallet.store'

// Money that was taken back when the chain could not take it back any more: the treasury is short of
// it, and the wallet is frozen until it is made good or an operator gives it up. It is made good by
// top-ups through channels whose money stays: so much of them is kept instead of credited. A held
// channel makes nothing good, because its money could be taken back in turn.

/** Freezes the wallet if this payment lost us something new. The wallet is locked by the caller. */
export async function noteReversal(tx: Tx, context: Context, payment: PaymentRow): Promise<void> {
  const lost = lostMicro(payment)
  if (lost === 0n) return
  const { id: paymentId, wallet } = payment
  if (!(await storeReversal(tx, { paymentId, wallet, lostMicro: lost }))) return
  const fields = { paymentId, wallet, lostMicro: String(lost), alarm: true }
  context.log.error(fields, 'payment was taken back after its hold, wallet frozen')
  await setFrozen(tx, context, wallet, true)
}

/**
 * Takes out of a payment what its wallet still has to make good, oldest reversal first. Answers the
 * 10⁻⁶ AUSD taken. The wallet is locked by the caller.
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
    const taken = smaller(open, left)
    await addMadeGood(tx, paymentId, taken)
    left -= taken
  }
  const taken = ausdMicro - left
  if (taken === 0n) return 0n
  context.log.info(
    { paymentId: id, wallet, takenMicro: String(taken) },
    'payment made good a reversal',
  )
  if ((await findMissing(tx, wallet)).length === 0) await setFrozen(tx, context, wallet, false)
  return taken
}

function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a
  return b
}

async function setFrozen(tx: Tx, context: Context, wallet: `0x${string}`, frozen: boolean) {
  const known = await findWallet(tx, wallet)
  if ((known?.frozen ?? false) === frozen) return
  const nowMs = context.clock()
  const orderAgainAt = new Date(nowMs + context.sweepAfterMs)
  await orderFreeze(tx, await storeFreeze(tx, { wallet, frozen, nowMs, orderAgainAt }))
}

/** `repeat` makes a message of its own out of an order that is given again. */
const orderFreeze = (tx: Tx, { wallet, frozen, revision }: WalletRow, repeat = 0) =>
  announce(
    tx,
    outbox,
    FreezeOrdered,
    idFor('message', `${FreezeOrdered.subject}:${wallet}:${revision}:${repeat}`),
    { wallet, frozen, revision: String(revision) },
  )

const rowsMax = 50

/** Ends freezes that operators cleared, and repeats orders nobody answered. True if any was due. */
export async function recheckWallets(database: Database, context: Context): Promise<boolean> {
  const now = new Date(context.clock())
  const due = await database.read((db) => findDueWallets(db, now, rowsMax))
  for (const { wallet } of due)
    await database.transaction(async (tx) => {
      await lockWallet(tx, wallet)
      const row = await findWallet(tx, wallet)
      if (!row) return
      if (row.clearRequestedAt) return clearWallet(tx, context, row)
      if (!row.orderAgainAt || row.orderAgainAt > now) return
      await planOrder(tx, wallet, new Date(context.clock() + context.sweepAfterMs * 4))
      await orderFreeze(tx, row, context.clock())
    })
  return due.length > 0
}

async function clearWallet(
  tx: Tx,
  context: Context,
  { wallet, clearReason }: WalletRow,
): Promise<void> {
  await clearMissing(tx, wallet)
  const nowMs = context.clock()
  const orderAgainAt = new Date(nowMs + context.sweepAfterMs)
  await orderFreeze(tx, await storeFreeze(tx, { wallet, frozen: false, nowMs, orderAgainAt }))
  context.log.info({ wallet, reason: clearReason }, 'freeze ended by an operator')
}
