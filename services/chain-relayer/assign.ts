import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Tx } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import { manyCall } from './call'
import { findDue } from './due.store'
import { examine } from './examine'
import { type Fees, feesFor } from './fees'
import { drawNonce } from './lane.store'
import { isRacing, type PackedTask } from './operation'
import { type Operation, operations } from './operation.store'
import { inParallel } from './parallel'
import { packed } from './parcel'
import { complain, type HeldLane, type Relayer } from './relayer'
import { signCall } from './signer'
import type { Call, TransactionPurpose } from './transaction'
import { insertAttempt, transactions } from './transaction.store'

/**
 * Open transactions per lane at most. Monad lets an account bid 10 coins of gas within three
 * blocks: 16 full batches of credits at the least base fee are 6 of them.
 */
const openMax = 16
const dueMax = 256
const examineAtOnce = 8

type Parcel = { operations: Operation[]; purpose: TransactionPurpose; call: Call }

/** Gives waiting operations a lane and a nonce, signed and stored in one commit each. */
export async function assignWaiting(relayer: Relayer, held: readonly HeldLane[]): Promise<void> {
  const rooms = held
    .filter(({ sound, open }) => sound && open.length < openMax)
    .map((one) => ({ ...one, free: openMax - one.open.length }))
  if (rooms.length === 0) return
  const due = await relayer.database.read((db) => findDue(db, dueMax))
  if (due.length === 0) return
  const fees = feesFor(await relayer.node.baseFeeWei())
  for (const parcel of await parcelsOf(relayer, due, rooms[0]!.lane.address)) {
    const room = rooms.sort((left, right) => right.free - left.free)[0]!
    if (room.free === 0) return
    if (await assign(relayer, room, parcel, fees)) room.free--
  }
}

async function parcelsOf(
  relayer: Relayer,
  due: readonly Operation[],
  from: `0x${string}`,
): Promise<Parcel[]> {
  const callFor = (operation: Operation) =>
    examine(relayer, operation, from).catch((error) => {
      complain(relayer, 'examine', { err: error }, 'operation could not be examined')
      return undefined
    })
  const calls = new Map<Operation, Call>()
  const examineAll = (wanted: readonly Operation[]) =>
    inParallel(wanted, examineAtOnce, async (operation) => {
      const call = await callFor(operation)
      if (call) calls.set(operation, call)
    })
  await examineAll(due.filter(({ kind }) => isRacing(kind)))
  const fit = due.filter((operation) => !isRacing(operation.kind) || calls.has(operation))
  const { together, alone } = packed(fit, relayer.settings.batchMax)
  await examineAll(alone.filter((operation) => !calls.has(operation)))

  const batches = together.map(
    (group): Parcel => ({
      operations: group,
      purpose: 'batch',
      call: manyCall(group as PackedTask[], relayer.contracts.creditLine),
    }),
  )
  const singles = alone.flatMap((operation): Parcel[] => {
    const call = calls.get(operation)
    return call ? [{ operations: [operation], purpose: 'op', call }] : []
  })
  // Whatever bears the most urgent operation gets its nonce first.
  const place = ({ operations }: Parcel) => Math.min(...operations.map((one) => due.indexOf(one)))
  return [...batches, ...singles].sort((left, right) => place(left) - place(right))
}

class LostRace extends Error {
  override name = 'LostRace'
}

/**
 * The write-ahead step: nonce, signature, transaction and operations in one commit, before anybody
 * is told. Only what is stored here is ever broadcast.
 */
async function assign(
  relayer: Relayer,
  { key, lane }: HeldLane,
  parcel: Parcel,
  fees: Fees,
): Promise<boolean> {
  try {
    await relayer.database.transaction(async (tx) => {
      const nonce = await drawNonce(tx, lane, relayer.holder)
      if (nonce === undefined) throw new LostRace('the lease of the lane was lost')
      const signed = await signCall(key, relayer.settings.chainId, {
        nonce,
        call: parcel.call,
        fees,
      })
      await insertTransaction(tx, lane.address, nonce, parcel)
      const { gas } = parcel.call
      await insertAttempt(tx, {
        ...signed,
        ...fees,
        lane: lane.address,
        nonce,
        attempt: 1,
        purpose: 'call',
        gas,
      })
      await bind(tx, parcel.operations, lane.address, nonce)
    })
  } catch (error) {
    if (!(error instanceof LostRace)) throw error
    relayer.log.info({ lane: lane.address, reason: error.message }, 'assignment given up')
    return false
  }
  failpoint('relayer:transaction-stored')
  return true
}

const insertTransaction = (tx: Tx, lane: `0x${string}`, nonce: number, parcel: Parcel) =>
  tx.insert(transactions).values({
    lane,
    nonce,
    purpose: parcel.purpose,
    operationIds: parcel.operations.map(({ id }) => id),
    to: parcel.call.to,
    data: parcel.call.data,
    valueWei: parcel.call.valueWei,
  })

/** All of them or none: one that somebody else took meanwhile undoes the whole assignment. */
async function bind(
  tx: Tx,
  parcel: readonly Operation[],
  lane: `0x${string}`,
  nonce: number,
): Promise<void> {
  const ids = parcel.map(({ id }) => id)
  const bound = await tx
    .update(operations)
    .set({ state: 'assigned', lane, nonce, updatedAt: sql`now()` })
    .where(and(inArray(operations.id, ids), eq(operations.state, 'waiting')))
    .returning({ id: operations.id })
  if (bound.length !== ids.length) throw new LostRace('an operation was taken meanwhile')
}
