import { is, SQL, StringChunk } from 'drizzle-orm'
import { backoffMs } from '#platform/backoff'
import { statesBefore } from '#platform/lifecycle'
import { type CashoutState, lifecycle } from '../../../services/payouts/cashout'
import { type Cashout, cashouts } from '../../../services/payouts/cashout.table'
import { checkWait } from '../../../services/payouts/decide'
import type { PayoutApi } from '../../../services/payouts/provider'
import { writeSide } from './messaging'
import { type Rows, rowsOf } from './rows'
import { dueBy, FromNow, nothing, nullsOf, type StandIn } from './table'

type Cashouts = typeof import('../../../services/payouts/cashout.store')
type Promises = typeof import('../../../services/payouts/treasury/promise.store')
type Schema = typeof import('../../../services/payouts/schema.store')
type Db = Parameters<Cashouts['findRivals']>[0]

const defaults = () => ({
  ...nullsOf(cashouts),
  spreadBps: 0,
  feeMinor: 0n,
  signedByContract: false,
  heldByOperator: false,
  holdRevision: 0,
  attempts: 0,
  checks: 0,
})

/** Returns changes with expressions such as `now()` resolved. */
export function written(rows: Rows, changes: object): object {
  const values: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(changes)) if (value !== undefined) values[key] = asWritten(rows, value)
  return values
}

function asWritten(rows: Rows, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (value instanceof FromNow) return new Date(rows.clock() + value.ms)
  if (!is(value, SQL)) return value
  const [chunk] = value.queryChunks
  if (is(chunk, StringChunk) && chunk.value.join('') === 'now()') return rows.now()
  throw new Error('the simulation does not support this expression of a query')
}

const ofAuthorization = ({ cashouts }: Rows, authorizer: string, nonce: string) =>
  cashouts.by('authorization', `${authorizer} ${nonce}`).filter(({ state }) => state !== 'expired')

function store(rows: Rows, row: Cashout): Cashout {
  const { id, providerPayoutId } = row
  const same = providerPayoutId === null ? [] : rows.cashouts.by('payout', providerPayoutId)
  if (same.some((other) => other.id !== id)) throw new Error(`${row.id} breaks payouts_provider_payout`)
  const sharing = row.state === 'expired' ? [] : ofAuthorization(rows, row.authorizer, row.authorizationNonce)
  if (sharing.some((other) => other.id !== id)) throw new Error(`${row.id} breaks payouts_authorization`)
  return rows.cashouts.set(row.id, row)
}

export const findCashout: StandIn<Cashouts['findCashout']> = async (db, id) => rowsOf(db).cashouts.get(id)

export const findPaidAs: StandIn<Cashouts['findPaidAs']> = async (db, providerPayoutId) =>
  rowsOf(db).cashouts.by('payout', providerPayoutId)[0]

export const findOwners: StandIn<Cashouts['findOwners']> = async (db, ids, payoutIds) => {
  const { cashouts } = rowsOf(db)
  const byId = ids.flatMap((id) => cashouts.get(id) ?? [])
  return [...new Set([...byId, ...payoutIds.flatMap((id) => cashouts.by('payout', id))])]
}

export const findRivals = async (db: Db, quoteId: string, authorizer: string, nonce: string) =>
  rivalsOf(rowsOf(db), quoteId, authorizer, nonce)

function rivalsOf(rows: Rows, quoteId: string, authorizer: string, nonce: string): Cashout[] {
  const ofQuote = rows.cashouts.by('quote', quoteId)
  return [...new Set([...ofQuote, ...ofAuthorization(rows, authorizer, nonce)])]
}

export const insertCashout: StandIn<Cashouts['insertCashout']> = (tx, cashout) => {
  const rows = rowsOf(tx)
  const given = written(rows, cashout) as Cashout
  const rivals = rivalsOf(rows, given.quoteId, given.authorizer, given.authorizationNonce)
  if (rivals.length > 0 || rows.cashouts.has(given.id)) return () => undefined
  const now = rows.now()
  const times = { createdAt: now, updatedAt: now, changedAt: now }
  const made = store(rows, { ...defaults(), ...times, ...given })
  return () => made
}

export const lockWallet: StandIn<Cashouts['lockWallet']> = () => nothing

export const lockAccount: StandIn<Cashouts['lockAccount']> = () => nothing

export const lockClosedMarket: StandIn<Cashouts['lockClosedMarket']> = () => nothing

/** Stand-ins that are constant: the walk has no limit on the sum of all wallets. */
export const lockAllCashouts: StandIn<Cashouts['lockAllCashouts']> = () => nothing
export const sumAllOfDay: StandIn<Cashouts['sumAllOfDay']> = async () => 0n

/** Stand-in that is constant: no cash-out of the walk is one of a closed market. */
export const sumClosedOfDay: StandIn<Cashouts['sumClosedOfDay']> = async () => ({ ofAll: 0n, ofWallet: 0n })

/** Stand-in that is constant: the sums behind these limits are tested on Postgres. */
export const wasPaidTo: StandIn<Cashouts['wasPaidTo']> = async () => false

export const sumDayTo: StandIn<Cashouts['sumDayTo']> = async () => ({
  micro: 0n,
  givenBack: 0,
  inProgress: 0,
  isRefused: false,
})
export const sumTaking: StandIn<Cashouts['sumTaking']> = async () => 0n
export const sumPromisedFiat: StandIn<Promises['sumPromisedFiat']> = async () => 0n

export const sumToday: StandIn<Cashouts['sumToday']> = async (tx, wallet) => ({
  givenBack: 0,
  inProgress: 0,
  micro: rowsOf(tx)
    .cashouts.by('wallet', wallet)
    .filter(({ state }) => !['expired', 'failed', 'returning', 'returned'].includes(state))
    .reduce((sum, { ausdMicro }) => sum + ausdMicro, 0n),
  pausedSince: null,
})

/** No bank account is refused. */
export const findRefusal: StandIn<
  typeof import('../../../services/payouts/request/refusal.store')['findRefusal']
> = async () => undefined

export const lockCashout: StandIn<Cashouts['lockCashout']> = async (tx, id) => rowsOf(tx).cashouts.get(id)

export const moveCashout = async (
  db: Db,
  id: string,
  next: CashoutState,
  changes: object,
): Promise<Cashout | undefined> => {
  const rows = rowsOf(db)
  const moved = move(rows, id, next, changes)
  if (!moved) rows.saw('a guarded update lost a race')
  return moved
}

function move(rows: Rows, id: string, next: CashoutState, changes: object): Cashout | undefined {
  const row = rows.cashouts.get(id)
  const isHeld = next === 'paying' && row?.heldByOperator
  if (!row || isHeld || !statesBefore(lifecycle, next).includes(row.state)) return undefined
  rows.saw(`cash-out: ${row.state} → ${next}`)
  if (next === 'paid' && !rows.told.has(id)) rows.saw('a check found a payout without a webhook')
  const now = rows.now()
  const changed = { ...row, ...written(rows, changes), state: next, checks: 0 }
  return store(rows, { ...changed, updatedAt: now, changedAt: now })
}

export const moveAhead: StandIn<Cashouts['moveAhead']> = (tx, id, next, changes, order) => {
  const rows = rowsOf(tx)
  const moved = move(rows, id, next, changes)
  if (!moved) {
    rows.saw('a guarded update lost a race')
    return () => undefined
  }
  writeSide(rows, [order?.statement])
  order?.notify()
  return () => moved
}

export const moveLocked: StandIn<Cashouts['moveLocked']> = (tx, id, next, changes, sideWrites) => {
  const rows = rowsOf(tx)
  if (!move(rows, id, next, changes)) throw new Error(`${id} did not become ${next}`)
  writeSide(rows, sideWrites)
}

export const recordCashout: StandIn<Cashouts['recordCashout']> = (tx, id, changes) => {
  const rows = rowsOf(tx)
  const row = rows.cashouts.get(id)
  if (row) store(rows, { ...row, ...written(rows, changes), changedAt: rows.now() })
}

const nextAttempt = (rows: Rows, { attempts, payoutApi }: Cashout, api: PayoutApi) => ({
  attempts: attempts + 1,
  attemptedAt: rows.now(),
  payoutApi: payoutApi ?? api,
})

export const countAttempt: StandIn<Cashouts['countAttempt']> = (tx, before, api) => {
  const rows = rowsOf(tx)
  const counted = rows.cashouts.update(before.id, nextAttempt(rows, before, api))
  return () => counted
}

export const moveToAttempt: StandIn<Cashouts['moveToAttempt']> = async (db, before, api, nextCheckAt) => {
  const rows = rowsOf(db)
  if (rows.cashouts.get(before.id)?.providerPayoutId !== null) return undefined
  return moveCashout(db, before.id, 'paying', { ...nextAttempt(rows, before, api), nextCheckAt })
}

export const leaseDue: StandIn<Cashouts['leaseDue']> = async (db, rowsMax, waitMs) => {
  const rows = rowsOf(db)
  const leasedAt = rows.now()
  const { maxMs, failedMaxMs } = checkWait
  const mostOf = ({ state }: Cashout) => (state === 'failed' ? failedMaxMs : maxMs)
  return dueBy(rows.cashouts, 'due', leasedAt, ({ nextCheckAt }) => nextCheckAt, mostOf)
    .sort((left, right) => left.nextCheckAt!.getTime() - right.nextCheckAt!.getTime())
    .slice(0, rowsMax)
    .map((row) => {
      const wait = backoffMs({ firstMs: waitMs, maxMs: mostOf(row) }, row.checks)
      const nextCheckAt = new Date(leasedAt.getTime() + wait)
      const leased = rows.cashouts.set(row.id, { ...row, nextCheckAt, checks: row.checks + 1 })
      return { ...leased, leasedAt }
    })
}

export const endChecks: StandIn<Cashouts['endChecks']> = async (db, { id, state }) => {
  const { cashouts } = rowsOf(db)
  if (cashouts.get(id)?.state === state) cashouts.update(id, { nextCheckAt: null })
  return nothing
}

export const findAnomalies: StandIn<Schema['findAnomalies']> = async (db, kinds, objects) => {
  const { anomalies } = rowsOf(db)
  const ids = objects.flatMap((object) => kinds.map((kind) => `payouts ${kind} ${object}`))
  return ids.flatMap((id) => (anomalies.get(id) ?? []) as never)
}

export const recordAnomaly: StandIn<Schema['recordAnomaly']> = async (db, { kind, object }) => {
  const rows = rowsOf(db)
  const row = { kind, object, noticedAt: rows.now() }
  return rows.anomalies.insert(`payouts ${kind} ${object}`, row)
}
