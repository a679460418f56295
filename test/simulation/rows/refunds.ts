import { checkMaxMs } from '../../../services/payments/decide'
import type { Reversal, StoredReport, WalletRow } from '../../../services/payments/losses/refund.store'
import { bookedOf } from './journal'
import { type AnomalyRow, type Rows, rowsOf } from './rows'
import { dueBy, isOver, nothing, type StandIn } from './table'

type Refunds = typeof import('../../../services/payments/losses/refund.store')
type Besides = typeof import('../../../services/payments/losses/charge-facts.store')
type Schema = typeof import('../../../services/payments/schema.store')
type Db = Parameters<Refunds['findMissing']>[0]

export const recordReport: StandIn<Refunds['recordReport']> = async (tx, given) => {
  const { refunds } = rowsOf(tx)
  const now = rowsOf(tx).now()
  const report = {
    objectId: null,
    origin: 'refund',
    evidenceDueAt: null,
    nextCheckAt: null,
    createdAt: now,
    updatedAt: now,
    ...given,
  } as StoredReport
  const known = refunds.get(report.id)
  if (!known) return refunds.set(report.id, report)
  const isStale = known.status === 'succeeded' && (report.status === 'pending' || report.status === 'unknown')
  const isOfSame = known.providerPaymentId === report.providerPaymentId
  const next = {
    ...known,
    refundedMinor: isStale ? known.refundedMinor : report.refundedMinor,
    status: isStale ? known.status : report.status,
    origin: known.status === 'succeeded' ? known.origin : report.origin,
    paymentId: (isOfSame && known.paymentId) || report.paymentId,
    objectId: report.objectId ?? known.objectId,
    providerPaymentId: report.providerPaymentId,
    evidenceDueAt: report.evidenceDueAt,
  }
  const isNews =
    next.evidenceDueAt?.getTime() !== known.evidenceDueAt?.getTime() ||
    next.status !== known.status ||
    next.origin !== known.origin ||
    next.paymentId !== known.paymentId ||
    next.objectId !== known.objectId ||
    next.providerPaymentId !== known.providerPaymentId ||
    next.refundedMinor !== known.refundedMinor
  return isNews ? refunds.set(report.id, { ...next, updatedAt: now }) : undefined
}

export const planLook: StandIn<Refunds['planLook']> = async (tx, id, nextCheckAt) => {
  rowsOf(tx).refunds.update(id, { nextCheckAt })
  return nothing
}

export const planLookAfterMiss: StandIn<Refunds['planLookAfterMiss']> = async (tx, { id, updatedAt }, nextCheckAt) => {
  const { refunds } = rowsOf(tx)
  if (refunds.get(id)?.updatedAt.getTime() === updatedAt.getTime()) refunds.update(id, { nextCheckAt })
  return nothing
}

export const planLookBy: StandIn<Refunds['planLookBy']> = async (tx, id, at) => {
  const { refunds } = rowsOf(tx)
  const planned = refunds.get(id)?.nextCheckAt
  if (!planned || planned > at) refunds.update(id, { nextCheckAt: at })
  return nothing
}

export const dueLooks = (db: Db, now: Date): StoredReport[] =>
  dueBy(
    rowsOf(db).refunds,
    'due',
    now,
    ({ nextCheckAt }) => nextCheckAt,
    () => checkMaxMs,
  )

export const leaseLooks: StandIn<Refunds['leaseLooks']> = async (tx, now, { retryAt, rowsMax }) => {
  const { refunds } = rowsOf(tx)
  const timeOf = ({ nextCheckAt }: StoredReport) => nextCheckAt!.getTime()
  const due = dueLooks(tx, now).sort((left, right) => timeOf(left) - timeOf(right) || (left.id < right.id ? -1 : 1))
  return due.slice(0, rowsMax).map(({ id }) => refunds.update(id, { nextCheckAt: retryAt })!)
}

export const endVoid: StandIn<Refunds['endVoid']> = async (tx, id) => {
  const { refunds } = rowsOf(tx)
  const known = refunds.get(id)
  if (!known || known.status === 'dead') return undefined
  refunds.set(id, { ...known, status: 'dead', nextCheckAt: null, updatedAt: rowsOf(tx).now() })
  return known
}

const reportsOf = (rows: Rows, providerPaymentId: string): StoredReport[] => [
  ...rows.refunds.by('charge', providerPaymentId),
]

export const findReports = async (db: Db, providerPaymentId: string): Promise<StoredReport[]> =>
  reportsOf(rowsOf(db), providerPaymentId)

export const findReportsById = async (db: Db, ids: readonly string[]): Promise<StoredReport[]> =>
  [...new Set(ids)].flatMap((id) => rowsOf(db).refunds.get(id) ?? [])

export const findOtherReports = async (db: Db, paymentId: string, providerPaymentId: string): Promise<StoredReport[]> =>
  rowsOf(db)
    .refunds.by('payment', paymentId)
    .filter((one) => one.providerPaymentId !== providerPaymentId)

const isMissing = ({ clearedAt, madeGoodMicro, lostMicro }: Reversal) => clearedAt === null && madeGoodMicro < lostMicro

export const findReversal: StandIn<Refunds['findReversal']> = async (db, paymentId) =>
  rowsOf(db).reversals.get(paymentId)

export const storeReversal: StandIn<Refunds['storeReversal']> = async (tx, given) => {
  const rows = rowsOf(tx)
  const { isOurs, ...loss } = given
  const { paymentId, lostMicro } = loss
  const now = rows.now()
  const known = rows.reversals.get(paymentId)
  if (known) {
    const { clearedAt } = known
    return rows.reversals.update(paymentId, {
      lostMicro,
      clearedAt: isOurs ? now : lostMicro > known.lostMicro ? null : clearedAt,
      updatedAt: now,
    })!
  }
  const fresh = {
    madeGoodMicro: 0n,
    givenBackMicro: 0n,
    clearedAt: isOurs ? now : null,
    createdAt: now,
    updatedAt: now,
  }
  return rows.reversals.set(paymentId, { ...loss, ...fresh })
}

export const hasLostHold: StandIn<Refunds['hasLostHold']> = async (db, wallet) =>
  rowsOf(db)
    .payments.by('wallet', wallet)
    .some(({ lostHold }) => lostHold === 'frozen')

export const clearLostHolds: StandIn<Refunds['clearLostHolds']> = async (tx, wallet) => {
  const { payments } = rowsOf(tx)
  const frozen = payments.by('wallet', wallet).filter(({ lostHold }) => lostHold === 'frozen')
  return frozen.map(({ id }) => {
    payments.update(id, { lostHold: 'cleared' })
    return { paymentId: id }
  })
}

export const findMissing = async (db: Db, wallet: string): Promise<Reversal[]> =>
  rowsOf(db)
    .reversals.by('wallet', wallet)
    .filter(isMissing)
    .sort((left, right) => left.createdAt.getTime() - right.createdAt.getTime())

export const findNeedless = async (db: Db, wallet: string): Promise<Reversal[]> =>
  rowsOf(db)
    .reversals.by('wallet', wallet)
    .filter(({ madeGoodMicro, lostMicro }) => madeGoodMicro > lostMicro)
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
  return missing.map(({ paymentId }) => rows.reversals.update(paymentId, { clearedAt: rows.now() })!)
}

export const reclaimMissing = async (db: Db, paymentIds: readonly string[]): Promise<Reversal[]> => {
  const { reversals } = rowsOf(db)
  const waived = paymentIds
    .map((id) => reversals.get(id))
    .filter((one) => one !== undefined && one.clearedAt !== null && one.madeGoodMicro < one.lostMicro)
  return waived.map((one) => reversals.update(one!.paymentId, { clearedAt: null })!)
}

export const reclaimLostHolds: StandIn<Refunds['reclaimLostHolds']> = async (tx, paymentIds) => {
  const { payments } = rowsOf(tx)
  const cleared = paymentIds.filter((id) => payments.get(id)?.lostHold === 'cleared')
  return cleared.map((paymentId) => {
    payments.update(paymentId, { lostHold: 'frozen' })
    return { paymentId }
  })
}

export const moveGivenBack: StandIn<Refunds['moveGivenBack']> = async (tx, paymentId) => {
  const { reversals } = rowsOf(tx)
  const { madeGoodMicro, lostMicro, givenBackMicro } = reversals.get(paymentId)!
  const moved = { madeGoodMicro: lostMicro, givenBackMicro: givenBackMicro + madeGoodMicro - lostMicro }
  return reversals.update(paymentId, moved)!
}

export const recordCleared: StandIn<Refunds['recordCleared']> = async (tx, wallet, clearedPayments) => {
  const { wallets } = rowsOf(tx)
  const known = wallets.get(wallet)
  if (known) wallets.update(wallet, { clearedPayments, clearedRevision: known.revision })
  return nothing
}

export const findWallet: StandIn<Refunds['findWallet']> = async (db, wallet) => rowsOf(db).wallets.get(wallet)

export const storeFreeze: StandIn<Refunds['storeFreeze']> = async (tx, change) => {
  const rows = rowsOf(tx)
  const { wallet, frozen, frozenByOperator, nowMs, retryAt } = change
  const known = rows.wallets.get(wallet)
  const next = (known?.revision ?? 0n) + 1n
  const revision = !known || next < BigInt(nowMs) ? BigInt(nowMs) : next
  const now = rows.now()
  const row: WalletRow = {
    wallet,
    frozen,
    frozenByOperator: frozenByOperator ?? known?.frozenByOperator ?? false,
    revision,
    retryAt,
    clearedPayments: known?.clearedPayments ?? [],
    clearedRevision: known?.clearedRevision ?? null,
    createdAt: known?.createdAt ?? now,
    updatedAt: now,
  }
  return rows.wallets.set(wallet, row)
}

export const confirmFreeze: StandIn<Refunds['confirmFreeze']> = async (tx, wallet, revision) => {
  const { wallets } = rowsOf(tx)
  if (wallets.get(wallet)?.revision === revision) wallets.update(wallet, { retryAt: null })
  return nothing
}

export const findDueWallets = async (db: Db, now: Date, rowsMax: number): Promise<WalletRow[]> =>
  rowsOf(db)
    .wallets.by('open', 'open')
    .filter(({ retryAt }) => isOver(retryAt!.getTime(), checkMaxMs, now.getTime()))
    .slice(0, rowsMax)

export const planOrder: StandIn<Refunds['planOrder']> = async (tx, wallet, retryAt) => {
  rowsOf(tx).wallets.update(wallet, { retryAt })
  return nothing
}

/** Table of the journal, which shows whether unmatched money was booked. */
let journal: object | undefined
export const bookIn = (table: object): void => {
  journal = table
}

export const findChargeFacts: StandIn<Besides['findChargeFacts']> = async (tx, { wallet }, { paymentId }) => {
  const rows = rowsOf(tx)
  return {
    reports: reportsOf(rows, paymentId),
    isBooked: journal !== undefined && bookedOf(rows, journal, paymentId).length > 0,
    isShort: rows.reversals.by('wallet', wallet).some(isMissing),
  }
}

export const findAnomaly = async (db: Db, id: string): Promise<AnomalyRow | undefined> =>
  rowsOf(db).anomalies.get(`payments ${id}`)

export const findAnomalies: StandIn<Schema['findAnomalies']> = async (db, ids) => {
  const { anomalies } = rowsOf(db)
  return new Map(
    ids.flatMap((id): [string, Date][] => {
      const row = anomalies.get(`payments ${id}`)
      return row ? [[id, row.noticedAt]] : []
    }),
  )
}

export const recordAnomaly: StandIn<Schema['recordAnomaly']> = async (db, anomaly) => {
  const { kind, account, object, paymentId = null, currency = null, amountMinor = null } = anomaly
  const rows = rowsOf(db)
  const row = { kind, object, noticedAt: rows.now(), paymentId, currency, amountMinor }
  return rows.anomalies.insert(`payments ${kind}:${account}:${object}`, row)
}
