import { dayEndMs, dayStartMs, homePair } from '#shared/money/day'
import { checkMaxMs } from '../../../services/payments/decide'
import type { CheckKind } from '../../../services/payments/incoming/check.store'
import { states, unsettledStates } from '../../../services/payments/payment'
import { mayLackCharge, type NewPayment, type PaymentRow, payments } from '../../../services/payments/payment.table'
import { writeSide } from './messaging'
import { dueLooks, findDueWallets } from './refunds'
import { type Rows, rowsOf } from './rows'
import { dueBy, isOver, nothing, nullsOf, type StandIn, tooLate } from './table'

type Payments = typeof import('../../../services/payments/payment.store')
type Checks = typeof import('../../../services/payments/incoming/check.store')
type Limits = typeof import('../../../services/payments/treasury/sums.store')
type Activity = typeof import('../../../services/payments/queries/activity.store')
type Promises = typeof import('../../../services/payments/treasury/promise.store')

const defaults = () => ({
  ...nullsOf(payments),
  spreadBps: 0,
  feeMinor: 0n,
  refSequence: 0,
  checks: 0,
  topupMicro: 0n,
  refundAppliedMinor: 0n,
  leftMicro: 0n,
  onchainMicro: 0n,
  recoveredMicro: 0n,
  writtenOffMicro: 0n,
  refundedMinor: 0n,
  overpaidMinor: 0n,
  overpaidRefundedMinor: 0n,
})

/** Error of a payment that breaks a constraint of the table. */
class Constraint extends Error {
  override name = 'Constraint'
}

function check(rows: Rows, row: PaymentRow): void {
  const refuse = (rule: string) => {
    throw new Constraint(`${row.id} breaks ${rule}`)
  }
  const isUnique = (name: 'checkout' | 'charge', text: string | null) =>
    text === null || rows.payments.by(name, text).every(({ id }) => id === row.id)
  if (!isUnique('checkout', row.checkoutId)) refuse('payments_checkout')
  if (!isUnique('charge', row.providerPaymentId)) refuse('payments_provider_payment')
  if (row.onchainMicro + row.recoveredMicro > row.ausdMicro) refuse('payments_shares')
  if (row.onchainMicro < 0n || row.recoveredMicro < 0n || row.writtenOffMicro < 0n) refuse('payments_shares')
  if (row.feeMinor < 0n || row.feeMinor >= row.fiatMinor) refuse('payments_fee')
  if (row.refundedMinor < 0n || row.overpaidMinor < 0n) refuse('payments_back')
  if (row.state === 'awaiting_payment' && row.checkoutUrl === null) refuse('payments_awaiting')
  if (!mayLackCharge.includes(row.state) && row.providerPaymentId === null) refuse('payments_evidence')
}

function store(rows: Rows, row: PaymentRow): PaymentRow {
  check(rows, row)
  return rows.payments.set(row.id, row)
}

export const insertPayment: StandIn<Payments['insertPayment']> = (tx, payment, leaseMs) => {
  const rows = rowsOf(tx)
  const now = rows.now()
  const given = payment as NewPayment & { id: string }
  const isRival = ({ kind, state }: PaymentRow) => kind === 'settlement' && state === 'opening'
  const hasRival =
    rows.payments.by('quote', given.quoteId).length > 0 ||
    (given.kind === 'settlement' && rows.payments.by('wallet', given.wallet).some(isRival))
  if (hasRival || rows.payments.has(given.id)) return () => undefined
  const openingUntil = new Date(now.getTime() + leaseMs)
  const times = { createdAt: now, topupAt: now, updatedAt: now, changedAt: now }
  const stored = store(rows, { ...defaults(), ...times, ...given, openingUntil } as PaymentRow)
  return () => stored
}

export const findByQuote: StandIn<Payments['findByQuote']> = async (db, quoteId) =>
  rowsOf(db).payments.by('quote', quoteId)[0]

export const failIfStored: StandIn<Payments['failIfStored']> = (tx, quoteId) => {
  if (rowsOf(tx).payments.by('quote', quoteId).length > 0) throw tooLate()
}

export const findPayment: StandIn<Payments['findPayment']> = async (db, id) => rowsOf(db).payments.get(id)

export const lockWallet: StandIn<Payments['lockWallet']> = () => nothing

export const lockPayment: StandIn<Payments['lockPayment']> = async (tx, id) => rowsOf(tx).payments.get(id)

export const lockPaymentAhead: StandIn<Payments['lockPaymentAhead']> = (tx, id) => {
  const row = rowsOf(tx).payments.get(id)
  return () => row
}

export const firstPaymentAt: StandIn<Payments['firstPaymentAt']> = async (db) => {
  const [first] = rowsOf(db).payments.values()
  return first?.createdAt ?? null
}

const unsettled: ReadonlySet<string> = new Set(unsettledStates)

export const findUnsettled = async (db: Parameters<Payments['findUnsettled']>[0], wallet: string) =>
  rowsOf(db)
    .payments.by('wallet', wallet)
    .filter(({ kind, state }) => kind === 'settlement' && unsettled.has(state))

export const countUnpaidSettlements: StandIn<Limits['countUnpaidSettlements']> = async () => 0

export const countCancelled: StandIn<Limits['countCancelled']> = async () => 0

export const findListed: Activity['findListed'] = (database, { wallet, id }) =>
  database.read(async (db) => {
    const row = rowsOf(db).payments.get(id)
    const isShown = row?.wallet === wallet && row.state !== 'opening'
    const isReal = row?.checkoutUrl != null || row?.providerPaymentId != null
    return isShown && isReal ? { ...row, missingMicro: null } : undefined
  })

export const lastRepaidAt: StandIn<Limits['lastRepaidAt']> = async (db, wallet) => {
  const times = rowsOf(db)
    .payments.by('wallet', wallet)
    .filter(({ kind }) => kind === 'settlement')
    .flatMap(({ creditedAt }) => creditedAt?.getTime() ?? [])
  return times.length === 0 ? null : new Date(Math.max(...times))
}

export const sumRepaying: StandIn<Limits['sumRepaying']> = async (db, wallet, readAt) =>
  rowsOf(db)
    .payments.by('wallet', wallet)
    .filter(({ kind }) => kind === 'settlement')
    .filter(({ state, creditedAt }) => state === 'paid' || (creditedAt && creditedAt >= readAt))
    .reduce((sum, { onchainMicro }) => sum + onchainMicro, 0n)

export const findByProviderIds: StandIn<Payments['findByProviderIds']> = async (db, ids) => {
  const { payments } = rowsOf(db)
  const { account, paymentId, paymentRequestId } = ids
  const ofCharge = payments.by('charge', paymentId)
  const ofRequest = paymentRequestId === null ? [] : payments.by('request', paymentRequestId)
  return [...ofCharge, ...ofRequest]
    .filter((row) => row.account === account)
    .sort((left, right) => left.createdAt.getTime() - right.createdAt.getTime())
    .at(-1)
}

export const findOwned: StandIn<Payments['findOwned']> = async (db, account, wanted) => {
  const { payments } = rowsOf(db)
  const found = [
    ...wanted.paymentIds.flatMap((id) => payments.by('charge', id)),
    ...wanted.requestIds.flatMap((id) => payments.by('request', id)),
    ...wanted.ids.flatMap((id) => payments.get(id) ?? []),
  ].filter((row) => row.account === account)
  return new Set(
    found.flatMap(({ id, providerPaymentId, paymentRequestId }) =>
      [id, providerPaymentId, paymentRequestId].filter((one) => one !== null),
    ),
  )
}

export const findByCheckout: StandIn<Payments['findByCheckout']> = async (db, account, checkoutId) =>
  rowsOf(db)
    .payments.by('checkout', checkoutId)
    .find((row) => row.account === account)

export const leaseOpening = async (
  db: Parameters<Payments['leaseOpening']>[0],
  id: string,
  leaseMs: number,
): Promise<PaymentRow | undefined> => {
  const rows = rowsOf(db)
  const row = rows.payments.get(id)
  const isLeased = row?.openingUntil && !isOver(row.openingUntil.getTime(), leaseMs, rows.clock())
  if (row?.state !== 'opening' || isLeased) return undefined
  return rows.payments.update(id, { openingUntil: new Date(rows.clock() + leaseMs) })
}

export const movePayment: StandIn<Payments['movePayment']> = async (db, id, step) => move(rowsOf(db), id, step)

export const moveLocked: StandIn<Payments['moveLocked']> = (tx, id, { sideWrites, ...step }) => {
  const rows = rowsOf(tx)
  if (!move(rows, id, step)) throw new Error(`${id} is not in the state that was read`)
  writeSide(rows, sideWrites)
}

function move(
  rows: Rows,
  id: string,
  { from, to: state, nextCheckAt, set = {} }: Parameters<Payments['movePayment']>[2],
): PaymentRow | undefined {
  const row = rows.payments.get(id)
  if (!row || row.state !== from) {
    rows.saw('a guarded update lost a race')
    return undefined
  }
  rows.saw(`${row.kind === 'topup' ? 'top-up' : row.kind}: ${row.state} → ${state}`)
  if (state === 'refunded') rows.saw('a refund was known before its payment was credited')
  if (set.lateRateMinorPerUsd) rows.saw('a late payment was worth less')
  if (set.recoveredMicro) rows.saw('a loss was recovered')
  if (state === 'paid' && row.providerPaymentId === null && !rows.told.has(id))
    rows.saw('a check found a payment without a webhook')
  const now = rows.now()
  const given: Record<string, unknown> = { state, nextCheckAt, checks: 0 }
  for (const [key, value] of Object.entries(set)) if (value !== undefined) given[key] = value
  return store(rows, { ...row, ...given, updatedAt: now, changedAt: now } as PaymentRow)
}

export const recordPayment: StandIn<Payments['recordPayment']> = async (db, id, set) => {
  const rows = rowsOf(db)
  const row = rows.payments.get(id)
  if (row) store(rows, { ...row, ...set, changedAt: rows.now() } as PaymentRow)
  return nothing
}

const checkLeaseMs = 30_000
const listedRestMs = 21_600_000

/** Returns true for a payment that the list covers; see `incoming/check.store.ts`. */
function isLeftToList(row: PaymentRow, now: Date, listed: readonly string[]): boolean {
  if (!listed.includes(row.account) || row.reason === 'awaiting_rate') return false
  if (row.state === 'awaiting_payment') return row.expiresAt !== null && row.expiresAt > now
  if (row.state !== 'expired' && row.state !== 'replaced') return false
  return row.nextCheckAt !== null && row.nextCheckAt.getTime() > now.getTime() - listedRestMs
}

const dueAt = (rows: Rows, now: Date): PaymentRow[] =>
  dueBy(
    rows.payments,
    'due',
    now,
    ({ nextCheckAt }) => nextCheckAt,
    () => checkMaxMs,
  )

export const isDue: StandIn<Checks['isDue']> = async (db, now) => {
  const rows = rowsOf(db)
  return {
    payments: dueAt(rows, now).length > 0,
    wallets: (await findDueWallets(db, now, 1)).length > 0,
    looks: dueLooks(db, now).length > 0,
  }
}

const kindOf = ({ state }: PaymentRow): CheckKind => {
  if (states[state].mayHold) return 'holds'
  return state === 'paid' ? 'orders' : 'others'
}

export const leaseDue: StandIn<Checks['leaseDue']> = async (
  tx,
  now,
  kind,
  rowsMax,
  { listed = [], leaseMs = checkLeaseMs } = {},
) => {
  const rows = rowsOf(tx)
  const nextCheckAt = new Date(now.getTime() + leaseMs)
  return dueAt(rows, now)
    .filter((row) => kindOf(row) === kind && !isLeftToList(row, now, listed))
    .sort((left, right) => left.nextCheckAt!.getTime() - right.nextCheckAt!.getTime())
    .slice(0, rowsMax)
    .map((row) => rows.payments.set(row.id, { ...row, nextCheckAt, checks: row.checks + 1 }))
}

export const planCheck: StandIn<Checks['planCheck']> = async (db, leased, nextCheckAt, isPutOff) => {
  const rows = rowsOf(db)
  const row = rows.payments.get(leased.id)
  const checks = leased.checks - (isPutOff ? 1 : 0)
  if (row?.state === leased.state && row.checks === leased.checks)
    rows.payments.set(row.id, { ...row, nextCheckAt, checks })
  return nothing
}

/** Stand-ins that are constant: the walk has no limit on the sum of all wallets. */
export const lockAllTopups: StandIn<Limits['lockAllTopups']> = () => nothing
export const sumAllTopups: StandIn<Limits['sumAllTopups']> = async () => 0n

export const sumTopups: StandIn<Limits['sumTopups']> = async (db, wallet, now) => {
  const own = rowsOf(db)
    .payments.by('wallet', wallet)
    .filter(({ topupMicro }) => topupMicro > 0n)
  const open = own.filter(
    ({ state, expiresAt }) =>
      state === 'opening' || (state === 'awaiting_payment' && expiresAt !== null && expiresAt > now),
  )
  const nowMs = now.getTime()
  const ofDay = own.filter(
    ({ pair, state, checkoutId, topupAt }) =>
      topupAt.getTime() >= dayStartMs(pair, nowMs) &&
      !['replaced', 'refunded'].includes(state) &&
      (state !== 'expired' || checkoutId !== null),
  )
  const dayCount = own.filter(
    (row) =>
      row.topupAt.getTime() >= dayStartMs(row.pair, nowMs) && (row.providerPaymentId !== null || open.includes(row)),
  ).length
  const sum = (some: readonly PaymentRow[]) => some.reduce((total, { topupMicro }) => total + topupMicro, 0n)
  const used = ofDay.length > 0 ? ofDay.map(({ pair }) => pair) : [homePair]
  const resetsAtMs = Math.max(...used.map((pair) => dayEndMs(pair, nowMs)))
  const totals = { openCount: open.length, openMicro: sum(open), dayCount, dayMicro: sum(ofDay), resetsAtMs }
  return { pausedSince: null, ...totals }
}

/** Stand-in that is constant: the sums behind cover are tested on Postgres. */
export const sumPromised: StandIn<Promises['sumPromised']> = async () => 0n
