import type { Attempt, Lane, OpenTransaction } from '../../../services/chain-relayer/lanes/lane.store'
import { writeSide } from './messaging'
import { type Rows, rowsOf, type TransactionRow } from './rows'
import { isOver, nothing, type StandIn, tooLate } from './table'

type Lanes = typeof import('../../../services/chain-relayer/lanes/lane.store')
type Db = Parameters<Lanes['findOpen']>[0]
type Tx = Parameters<Lanes['drawNonce']>[0]

const leaseMs = 5_000
const renewAfterMs = 1_500

const isOpen = ({ outcome }: TransactionRow) => outcome === null

export const findLanes: StandIn<Lanes['findLanes']> = async (db) => rowsOf(db).lanes.where(() => true)

export const renewLanes: StandIn<Lanes['renewLanes']> = async (db, holder) => {
  const rows = rowsOf(db)
  const now = rows.clock()
  const hasWaiting = rows.operations.by('state', 'waiting').length > 0
  const lanes = rows.lanes
    .where(() => true)
    .map((lane) => {
      const until = lane.leasedUntil?.getTime() ?? Number.NEGATIVE_INFINITY
      const isFree = isOver(until, leaseMs, now)
      const isLong = until > now + leaseMs - renewAfterMs && !isFree
      const isOwn = lane.holder === holder
      if (isOwn && !isLong) rows.lanes.set(lane.address, { ...lane, leasedUntil: new Date(now + leaseMs) })
      const isBusy = rows.transactions.by('open', lane.address).length > 0
      return { ...lane, isFree, isFresh: isLong || isOwn, isBusy, hasWaiting }
    })
  const own = lanes.filter((lane) => lane.holder === holder).map(({ address }) => address)
  return { lanes, open: await findOpen(db, own) }
}

export const insertLane: StandIn<Lanes['insertLane']> = (database, address, nextNonce) =>
  database.run(async (db) => {
    const rows = rowsOf(db)
    const now = rows.now()
    const lease = { holder: null, epoch: 0, leasedUntil: null, fault: null }
    rows.lanes.insert(address, { address, nextNonce, ...lease, createdAt: now, updatedAt: now })
    return nothing
  })

export const leaseLanes: StandIn<Lanes['leaseLanes']> = (database, addresses, holder) =>
  database.run(async (db) => {
    const rows = rowsOf(db)
    const now = rows.clock()
    return rows.lanes
      .where(
        (lane) =>
          addresses.includes(lane.address) &&
          (lane.holder === holder || lane.leasedUntil === null || isOver(lane.leasedUntil.getTime(), leaseMs, now)),
      )
      .map((lane) => {
        if (lane.holder !== null && lane.holder !== holder) rows.saw('a lane moved to another instance')
        const epoch = lane.epoch + (lane.holder === holder ? 0 : 1)
        const leasedUntil = new Date(now + leaseMs)
        return rows.lanes.set(lane.address, { ...lane, holder, epoch, leasedUntil })
      })
  })

export const releaseLanes: StandIn<Lanes['releaseLanes']> = (database, holder, addresses) =>
  database.run(async (db) => {
    const { lanes } = rowsOf(db)
    for (const lane of lanes.where((one) => one.holder === holder))
      if (!addresses || addresses.includes(lane.address))
        lanes.set(lane.address, { ...lane, leasedUntil: null, holder: null })
    return nothing
  })

export const recordFault: StandIn<Lanes['recordFault']> = (database, lane, holder, fault) =>
  database.run(async (db) => {
    const rows = rowsOf(db)
    const isSame = heldLane(rows, lane, holder)?.nextNonce === lane.nextNonce
    if (isSame) rows.lanes.update(lane.address, { fault })
    return isSame
  })

type Lease = Pick<Lane, 'address' | 'epoch'>

function heldLane(rows: Rows, { address, epoch }: Lease, holder: string): Lane | undefined {
  const lane = rows.lanes.get(address)
  const isHeld =
    lane?.holder === holder &&
    lane.epoch === epoch &&
    lane.leasedUntil !== null &&
    lane.leasedUntil.getTime() > rows.clock()
  return isHeld ? lane : undefined
}

export const drawNonce: StandIn<Lanes['drawNonce']> = (tx, { nextNonce, ...lease }, holder) => {
  const rows = rowsOf(tx)
  const lane = heldLane(rows, lease, holder)
  if (!lane) rows.saw('a lane lease was lost during assignment')
  if (!lane || lane.fault !== null || lane.nextNonce !== nextNonce) throw tooLate()
  rows.lanes.set(lane.address, { ...lane, nextNonce: nextNonce + 1 })
  return () => true
}

export const stillHeld = async (tx: Tx, lease: Lease, holder: string): Promise<boolean> =>
  heldLane(rowsOf(tx), lease, holder) !== undefined

export const findOpen = async (db: Db, lanes: readonly string[]): Promise<OpenTransaction[]> => {
  const rows = rowsOf(db)
  const open = lanes.flatMap((lane) => rows.transactions.by('open', lane))
  return open
    .sort((left, right) => left.nonce - right.nonce)
    .map((one) => ({
      ...one,
      attempts: rows.attempts
        .by('nonce', `${one.lane} ${one.nonce}`)
        .sort((left, right) => left.attempt - right.attempt),
    }))
}

function storeAttempt(rows: Rows, given: object): void {
  const unsent = { broadcasts: 0, broadcastAt: null, lastError: null }
  const attempt = { createdAt: rows.now(), ...unsent, ...given } as Attempt
  if (attempt.attempt > 1) rows.saw('a nonce was signed again with a higher fee')
  if (attempt.purpose === 'noop') rows.saw('a nonce was filled with a noop')
  if (!rows.attempts.insert(attempt.hash, attempt)) throw new Error(`${attempt.hash} breaks attempt_hash`)
}

export const insertTransaction = (tx: Tx, transaction: object, attempt: object): void => {
  const rows = rowsOf(tx)
  const now = rows.now()
  const open = { outcome: null, txHash: null, blockNumber: null, blockHash: null }
  const row = { ...open, createdAt: now, updatedAt: now, ...transaction } as TransactionRow
  if (!rows.transactions.insert(`${row.lane} ${row.nonce}`, row))
    throw new Error(`${row.lane} gave out nonce ${row.nonce} twice`)
  storeAttempt(rows, attempt)
}

export const insertAttempt = async (tx: Tx, attempt: object): Promise<never> => {
  storeAttempt(rowsOf(tx), attempt)
  return nothing
}

export const recordBroadcasts: StandIn<Lanes['recordBroadcasts']> = async (db, sent) => {
  const rows = rowsOf(db)
  for (const { hash, count, at, error } of sent) {
    const attempt = rows.attempts.get(hash)
    if (attempt) rows.attempts.set(hash, { ...attempt, broadcasts: count, broadcastAt: new Date(at), lastError: error })
  }
  return nothing
}

export const closeTransaction: StandIn<Lanes['closeTransaction']> = (tx, { lane, nonce }, final, sent, booked) => {
  const rows = rowsOf(tx)
  const row = rows.transactions.get(`${lane} ${nonce}`)
  if (!row || !isOpen(row)) throw tooLate()
  rows.transactions.set(`${lane} ${nonce}`, { ...row, ...final, updatedAt: rows.now() })
  void recordBroadcasts(tx, sent)
  writeSide(rows, [booked])
}
