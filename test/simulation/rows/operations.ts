import { statesBefore } from '#platform/lifecycle'
import {
  isVerdict,
  lifecycle,
  type OperationState,
  type Order,
  racing,
  restMaxMs,
  transferEndsMs,
} from '../../../services/chain-relayer/operations/operation'
import type { FailedTake, Watched } from '../../../services/chain-relayer/operations/operation.store'
import { type Operation, operations } from '../../../services/chain-relayer/operations/operation.table'
import { written } from './cashouts'
import { type Rows, rowsOf } from './rows'
import { dueBy, nothing, nullsOf, type StandIn, tooLate } from './table'

type Operations = typeof import('../../../services/chain-relayer/operations/operation.store')
type Wallets = typeof import('../../../services/chain-relayer/operations/wallet.store')
type Burnt = typeof import('../../../services/chain-relayer/operations/reverted-gas.store')
type Db = Parameters<Operations['findOperation']>[0]

const greater = (left: bigint, right: bigint): bigint => {
  if (left > right) return left
  return right
}

const defaults = () => ({ ...nullsOf(operations), state: 'waiting', tries: 0, repeats: 0 })

export const findOperation: StandIn<Operations['findOperation']> = async (db, id) => rowsOf(db).operations.get(id)

export const findOperations: StandIn<Operations['findOperations']> = async (db, ids) =>
  ids.flatMap((id) => rowsOf(db).operations.get(id) ?? [])

export const blockOfRef: StandIn<Operations['blockOfRef']> = async (db, refId) => {
  const blocks = rowsOf(db)
    .operations.by('cause', refId)
    .filter(({ kind, state }) => isMoney(kind) && state === 'settled')
    .map(({ blockNumber }) => blockNumber ?? 0n)
  return blocks.reduce(greater, 0n)
}
const isMoney = (kind: string) => kind === 'credit' || kind === 'repay'

export const insertOperation = async (tx: Db, order: Order, as?: Failed): Promise<boolean> =>
  insertIn(rowsOf(tx), order, as)
type Failed = { state: 'failed'; reason: string }

function insertIn(rows: Rows, order: Order, as?: Failed): boolean {
  const { kind, wallet, authorizationNonce: nonce } = order
  const isSame = (other: Operation) => other.kind === kind
  const ofAuthorization =
    nonce === null ? [] : rows.operations.by('wallet', wallet).filter((one) => one.authorizationNonce === nonce)
  if (rows.operations.by('cause', order.cause).some(isSame) || ofAuthorization.some(isSame)) {
    rows.saw('an order was received again')
    return false
  }
  const now = rows.now()
  const times = { notBefore: now, createdAt: now, updatedAt: now }
  rows.operations.set(order.id, { ...defaults(), ...times, ...order, ...as } as Operation)
  return true
}

export const insertOperationAhead: StandIn<Operations['insertOperationAhead']> = (tx, order) => {
  if (!insertIn(rowsOf(tx), order)) throw tooLate()
}

function move(rows: Rows, id: string, to: OperationState, set: object, from: readonly OperationState[]): boolean {
  const row = rows.operations.get(id)
  if (!row || !from.includes(row.state)) return false
  rows.saw(`operation: ${row.state} → ${to}`)
  if (to === 'settled' && row.kind === 'extend') rows.saw('a hold was extended')
  const changed = { ...row, ...written(rows, set), state: to, updatedAt: rows.now() }
  rows.operations.set(id, changed as Operation)
  return true
}

export const moveOperationsAhead: StandIn<Operations['moveOperationsAhead']> = (tx, ids, to, set, from) => {
  const rows = rowsOf(tx)
  if (!ids.every((id) => move(rows, id, to, set, from))) throw tooLate()
}

export const moveOperation = async (
  tx: Db,
  id: string,
  to: OperationState,
  set: object,
  from: readonly OperationState[] = statesBefore(lifecycle, to),
): Promise<boolean> => move(rowsOf(tx), id, to, set, from)

export const postponeOperation = async (
  db: Db,
  id: string,
  waitMs: number,
  failedTries: 0 | 1,
  reason: string | null = null,
): Promise<never> => {
  const rows = rowsOf(db)
  const row = rows.operations.get(id)
  if (row?.state === 'waiting') {
    const notBefore = new Date(rows.clock() + waitMs)
    rows.operations.set(id, { ...row, reason, notBefore, tries: row.tries + failedTries })
  }
  return nothing
}

export const assignOperations: StandIn<Operations['assignOperations']> = (tx, ids, at) => {
  const rows = rowsOf(tx)
  const { operations } = rows
  const isFree = (row: Operation | undefined): row is Operation => {
    if (row?.state !== 'waiting') return false
    if (isBesideVerdict(rows, row)) rows.saw('a verdict waited for another of its wallet')
    else if (isBeforeFreeze(rows, row)) rows.saw('a credit waited for a freeze of its wallet')
    else if (isAfterPayment(rows, row)) rows.saw('an automatic repayment was not sent because of a payment')
    else return true
    return false
  }
  const free = ids.map((id) => operations.get(id)).filter(isFree)
  if (free.length < ids.length) throw tooLate()
  for (const row of free) {
    rows.saw('operation: waiting → assigned')
    operations.set(row.id, { ...row, ...at, state: 'assigned', reason: null })
  }
}

export const countRepeat: StandIn<Operations['countRepeat']> = async (tx, id) => {
  const { operations } = rowsOf(tx)
  const row = operations.get(id)
  if (!row || (row.state !== 'settled' && row.state !== 'failed')) return undefined
  rowsOf(tx).saw('an outcome was announced again')
  return operations.set(id, { ...row, repeats: row.repeats + 1 }) as never
}

const isOpen = ({ state }: Operation) => state === 'waiting' || state === 'assigned'

/**
 * Returns true while an operation must wait: a revocation for its credit, a verdict for an earlier verdict, a credit for a
 * freeze of its wallet, an automatic repayment for a payment of its debt.
 */
function isHeldBack(rows: Rows, row: Operation): boolean {
  if (row.kind === 'revoke')
    return rows.operations
      .by('cause', (row.payload as { refId: string }).refId)
      .some((other) => isMoney(other.kind) && isOpen(other))
  if (row.kind !== 'autorepay') return isBesideVerdict(rows, row) || isBeforeFreeze(rows, row)
  const isLater = isAfterPayment(rows, row)
  if (isLater) rows.saw('an automatic repayment waited for a payment of its debt')
  return isLater
}

const isBeforeFreeze = (rows: Rows, row: Operation): boolean =>
  isMoney(row.kind) &&
  rows.operations
    .by('wallet', row.wallet)
    .some((other) => other.kind === 'freeze' && other.payload.frozen && isOpen(other))

const isAfterPayment = (rows: Rows, row: Operation): boolean =>
  row.kind === 'autorepay' &&
  rows.operations
    .by('wallet', row.wallet)
    .some(
      (other) =>
        (other.kind === 'repay' && isOpen(other)) || (other.kind === 'autorepay' && other.state === 'assigned'),
    )

const isBesideVerdict = (rows: Rows, row: Operation): boolean =>
  isVerdict(row.kind) &&
  rows.operations.by('wallet', row.wallet).some(({ kind, state }) => kind === row.kind && state === 'assigned')

const urgencyOf = ({ kind }: Operation) =>
  (racing as readonly string[]).includes(kind) ? 0 : kind === 'freeze' ? 1 : 2

export const findDue: StandIn<Operations['findDue']> = async (db, rowsMax) => {
  const rows = rowsOf(db)
  const now = rows.now()
  return rows.operations
    .by('state', 'waiting')
    .filter(({ notBefore }) => notBefore <= now || Number(notBefore) > Number(now) + 2 * restMaxMs)
    .filter((row) => !isHeldBack(rows, row))
    .sort((left, right) => urgencyOf(left) - urgencyOf(right))
    .slice(0, rowsMax)
}

export const findUndecided: StandIn<Operations['findUndecided']> = async (db, rowsMax) => {
  const rows = rowsOf(db)
  const before = rows.now().getTime() - transferEndsMs
  return rows.operations
    .by('state', 'waiting')
    .filter(({ kind, createdAt }) => (kind === 'take' || kind === 'send') && createdAt.getTime() <= before)
    .toSorted((left, right) => left.createdAt.getTime() - right.createdAt.getTime())
    .slice(0, rowsMax)
}

export const newestRevision: StandIn<Operations['newestRevision']> = async (db, of) =>
  rowsOf(db)
    .operations.by('wallet', of.wallet)
    .filter(({ kind }) => kind === of.kind)
    .reduce((most, { revision }) => ((revision ?? 0n) > most ? revision! : most), 0n)

export const takeWatched: StandIn<Operations['takeWatched']> = async (tx, rowsMax, watchMs) => {
  const rows = rowsOf(tx)
  const now = rows.now()
  const watchAt = new Date(now.getTime() + watchMs)
  return dueBy(
    rows.operations,
    'watched',
    now,
    (row) => row.watchAt,
    () => watchMs,
  )
    .slice(0, rowsMax)
    .map((row) => rows.operations.set(row.id, { ...row, watchAt }) as Watched)
}

export const findFailedTakes: StandIn<Operations['findFailedTakes']> = async (db, wallets) =>
  ofWallets(rowsOf(db), wallets).filter(
    ({ kind, state, authorizationNonce }) => kind === 'take' && state === 'failed' && authorizationNonce !== null,
  ) as FailedTake[]

export const endWatch: StandIn<Operations['endWatch']> = async (db, id) => {
  const { operations } = rowsOf(db)
  if (!operations.get(id)?.watchAt) return false
  operations.update(id, { watchAt: null } as Partial<Operation>)
  return true
}

export const lockWallets: StandIn<Wallets['lockWallets']> = () => nothing

const ofWallets = ({ operations }: Rows, wallets: readonly string[]): Operation[] =>
  [...new Set(wallets)].flatMap((wallet) => operations.by('wallet', wallet))

const ofUsers = (row: Operation) => row.kind === 'take' || row.kind === 'send'

export const unseenMicro: StandIn<Wallets['unseenMicro']> = async (db, wallets, block) => {
  const sums = new Map<`0x${string}`, bigint>()
  for (const row of ofWallets(rowsOf(db), wallets)) {
    if (!ofUsers(row)) continue
    const isLater = row.state === 'settled' && (row.blockNumber ?? 0n) > block
    if (row.state !== 'assigned' && !isLater) continue
    sums.set(row.wallet, (sums.get(row.wallet) ?? 0n) + row.leavesMicro)
  }
  return sums
}

type Take = Awaited<ReturnType<Wallets['findTake']>>

export const findTake: StandIn<Wallets['findTake']> = async (db, payoutId) =>
  rowsOf(db)
    .operations.by('cause', payoutId)
    .find(({ kind }) => kind === 'take') as Take

export const isGivenBack: StandIn<Wallets['isGivenBack']> = async () => false

export const failIfGivenBack: StandIn<Wallets['failIfGivenBack']> = () => nothing

export const lockWallet: StandIn<Wallets['lockWallet']> = () => nothing

export const insertRevertedGas: StandIn<Burnt['insertRevertedGas']> = (tx, burnt, take) => {
  const rows = rowsOf(tx)
  const wallets = burnt.map(({ wallet }) => wallet)
  take(gasOf(rows, wallets))
  for (const { lane, nonce, wallet, wei } of burnt) rows.burnt.insert(`${lane} ${nonce} ${wallet}`, { wallet, wei })
}

export const revertedGasToday: StandIn<Burnt['revertedGasToday']> = async (db, wallets) => gasOf(rowsOf(db), wallets)

function gasOf(rows: Rows, wallets: readonly `0x${string}`[]) {
  const sums = new Map<`0x${string}`, bigint>()
  for (const name of wallets)
    for (const { wei } of rows.burnt.by('wallet', name)) sums.set(name, (sums.get(name) ?? 0n) + wei)
  return { weiOf: (wallet: `0x${string}`) => sums.get(wallet) ?? 0n, pausedSince: null }
}

export const atStakeWei: StandIn<Burnt['atStakeWei']> = async (tx, wallets) => {
  const rows = rowsOf(tx)
  const sums = new Map<`0x${string}`, bigint>()
  for (const row of ofWallets(rows, wallets)) {
    if (!ofUsers(row) || row.state !== 'assigned') continue
    const costs = rows.attempts.by('nonce', `${row.lane} ${row.nonce}`).map(({ gas, maxFeeWei }) => gas * maxFeeWei)
    const dearest = costs.reduce(greater, 0n)
    const carried = rows.transactions.get(`${row.lane} ${row.nonce}`)?.operationIds.length ?? 1
    sums.set(row.wallet, (sums.get(row.wallet) ?? 0n) + dearest / BigInt(carried))
  }
  return sums
}

type Cursors = typeof import('../../../services/chain-relayer/operations/cursor.store')

export const findCursor: StandIn<Cursors['findCursor']> = async (db) => rowsOf(db).of<bigint>(cursor).get('next')

export const advanceCursor: StandIn<Cursors['advanceCursor']> = async (db, nextBlock) => {
  const table = rowsOf(db).of<bigint>(cursor)
  const next = table.get('next')
  if (next === undefined || next < nextBlock) table.set('next', nextBlock)
  return nothing
}
const cursor = {}
