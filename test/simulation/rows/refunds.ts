import type { Reversal, WalletRow } from '../../../services/payments/refunds/refund.store'
import { bookedOf } from './journal'
import { type RefundRow, type Rows, rowsOf } from './rows'
import { nothing, type StandIn } from './table'

// Stand-in for rows that belong to a payment: refunds, losses, frozen wallets, anomalies.

type Refunds = typeof import('../../../services/payments/refunds/refund.store')
type Besides = typeof import('../../../services/payments/refunds/beside.store')
type Schema = typeof import('../../../services/payments/schema.store')
type Db = Parameters<Refunds['findMissing']>[0]

const isDone = ({ status }: RefundRow) => status === 'succeeded'
const sumOf = (refunds: readonly RefundRow[]) =>
  refunds.reduce((sum, { refundedMinor }) => sum + refundedMinor, 0n)

export const isRefunded: StandIn<Refunds['isRefunded']> = async (db, id) => {
  const refund = rowsOf(db).refunds.get(id)
  return refund !== undefined && isDone(refund) && refund.paymentId !== ''
}

export const findRefunded: StandIn<Refunds['findRefunded']> = async (db, id) => {
  const refund = rowsOf(db).refunds.get(id)
  return refund && isDone(refund) ? (refund as never) : undefined
}

export const recordRefund: StandIn<Refunds['recordRefund']> = async (tx, given) => {
  const { refunds } = rowsOf(tx)
  const refund = given as RefundRow
  const known = refunds.get(refund.id)
  if (!known) refunds.set(refund.id, refund)
  else if (!isDone(known) || known.paymentId === '')
    refunds.set(refund.id, {
      ...known,
      status: isDone(known) ? known.status : refund.status,
      paymentId: known.paymentId || refund.paymentId,
    })
  return nothing
}

const sumOfCharge = (rows: Rows, providerPaymentId: string): bigint =>
  sumOf(rows.refunds.by('charge', providerPaymentId).filter(isDone))

export const sumRefunded: StandIn<Refunds['sumRefunded']> = async (tx, providerPaymentId) =>
  sumOfCharge(rowsOf(tx), providerPaymentId)

export const sumRefundedBeside: StandIn<Refunds['sumRefundedBeside']> = async (
  tx,
  paymentId,
  providerPaymentId,
) =>
  sumOf(
    rowsOf(tx)
      .refunds.by('payment', paymentId)
      .filter((one) => one.providerPaymentId !== providerPaymentId && isDone(one)),
  )

const isMissing = ({ clearedAt, madeGoodMicro, lostMicro }: Reversal) =>
  clearedAt === null && madeGoodMicro < lostMicro

export const storeReversal: StandIn<Refunds['storeReversal']> = async (tx, given) => {
  const rows = rowsOf(tx)
  const { paymentId, lostMicro } = given
  const now = rows.now()
  const known = rows.reversals.get(paymentId)
  if (known) {
    if (known.lostMicro >= lostMicro) return undefined
    return rows.reversals.update(paymentId, { lostMicro, clearedAt: null, updatedAt: now })
  }
  const fresh = { madeGoodMicro: 0n, clearedAt: null, createdAt: now, updatedAt: now }
  return rows.reversals.set(paymentId, { ...given, ...fresh })
}

export const findMissing = async (db: Db, wallet: string): Promise<Reversal[]> =>
  rowsOf(db)
    .reversals.by('wallet', wallet)
    .filter(isMissing)
    .sort((left, right) => left.createdAt.getTime() - right.createdAt.getTime())

export const addMadeGood: StandIn<Refunds['addMadeGood']> = async (tx, paymentId, micro) => {
  const { reversals } = rowsOf(tx)
  const known = reversals.get(paymentId)
  if (known) reversals.update(paymentId, { madeGoodMicro: known.madeGoodMicro + micro })
  return nothing
}

export const clearMissing = async (db: Db, wallet: string): Promise<Reversal[]> => {
  const rows = rowsOf(db)
  const missing = await findMissing(db, wallet)
  return missing.map(
    ({ paymentId }) => rows.reversals.update(paymentId, { clearedAt: rows.now() })!,
  )
}

export const findWallet: StandIn<Refunds['findWallet']> = async (db, wallet) =>
  rowsOf(db).wallets.get(wallet)

export const storeFreeze: StandIn<Refunds['storeFreeze']> = async (tx, change) => {
  const rows = rowsOf(tx)
  const { wallet, frozen, nowMs, orderAgainAt } = change
  const known = rows.wallets.get(wallet)
  const next = (known?.revision ?? 0n) + 1n
  const revision = !known || next < BigInt(nowMs) ? BigInt(nowMs) : next
  const now = rows.now()
  const row: WalletRow = {
    ...{ wallet, frozen, revision, orderAgainAt, clearRequestedAt: null, clearReason: null },
    ...{ createdAt: known?.createdAt ?? now, updatedAt: now },
  }
  return rows.wallets.set(wallet, row)
}

export const confirmFreeze: StandIn<Refunds['confirmFreeze']> = async (tx, wallet, revision) => {
  const { wallets } = rowsOf(tx)
  if (wallets.get(wallet)?.revision === revision) wallets.update(wallet, { orderAgainAt: null })
  return nothing
}

export const findDueWallets = async (db: Db, now: Date, rowsMax: number): Promise<WalletRow[]> =>
  rowsOf(db)
    .wallets.by('open', 'open')
    .filter(
      ({ orderAgainAt, clearRequestedAt }) =>
        (orderAgainAt !== null && orderAgainAt <= now) || clearRequestedAt !== null,
    )
    .slice(0, rowsMax)

export const planOrder: StandIn<Refunds['planOrder']> = async (tx, wallet, orderAgainAt) => {
  rowsOf(tx).wallets.update(wallet, { orderAgainAt })
  return nothing
}

/** The journal of payments; shows whether unmatched money was booked. */
let journal: object | undefined
export const bookIn = (table: object): void => {
  journal = table
}

export const findBeside: StandIn<Besides['findBeside']> = async (tx, { wallet }, { paymentId }) => {
  const rows = rowsOf(tx)
  return {
    refundedMinor: sumOfCharge(rows, paymentId),
    isBooked: journal !== undefined && bookedOf(rows, journal, paymentId).length > 0,
    isShort: rows.reversals.by('wallet', wallet).some(isMissing),
  }
}

export const recordAnomaly: StandIn<Schema['recordAnomaly']> = async (db, { kind, object }) =>
  rowsOf(db).anomalies.insert(`payments ${kind} ${object}`, { kind, object })
