import { failpoint } from '#shared/failpoint'
import { type Context, logThrottled } from '../context'
import {
  drawNonce,
  insertAttempt,
  insertTransaction,
  type TransactionPurpose,
} from '../lanes/lane.store'
import type { HeldLane } from '../lanes/lease'
import { type BatchableTask, isRacing } from '../operations/operation'
import { assignOperations, findDue, type Operation } from '../operations/operation.store'
import { inParallel } from '../parallel'
import { batched, manyCall } from './batch'
import { examine } from './examine'
import { type Fees, feesFor } from './fees'
import { type Call, signCall } from './transaction'

/**
 * Open transactions per lane at most. Monad lets an account bid 10 coins of gas within three
 * blocks: 16 full batches of credits at the least base fee are 6 of them.
 */
const openMax = 16
const dueMax = 256
const examineAtOnce = 8

/** What one transaction will carry: one operation, or several in `many`. */
type Batch = { operations: Operation[]; purpose: TransactionPurpose; call: Call }

/** Gives waiting operations a lane and a nonce, signed and stored in one commit each. */
export async function assignWaiting(context: Context, held: readonly HeldLane[]): Promise<void> {
  const lanes = held
    .filter(({ sound, open }) => sound && open.length < openMax)
    .map((one) => ({ ...one, free: openMax - one.open.length }))
  if (lanes.length === 0) return
  const due = await context.database.read((db) => findDue(db, dueMax))
  if (due.length === 0) return
  const fees = feesFor(await context.node.baseFeeWei())
  for (const batch of await batchesOf(context, due, lanes[0]!.lane.address)) {
    const freest = lanes.sort((left, right) => right.free - left.free)[0]!
    if (freest.free === 0) return
    if (await assign(context, freest, batch, fees)) freest.free--
  }
}

async function batchesOf(
  context: Context,
  due: readonly Operation[],
  from: `0x${string}`,
): Promise<Batch[]> {
  const callFor = (operation: Operation) =>
    examine(context, operation, from).catch((error) => {
      logThrottled(context, 'examine', { err: error }, 'operation could not be examined')
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
  const { together, alone } = batched(fit, context.settings.batchMax)
  await examineAll(alone.filter((operation) => !calls.has(operation)))

  const several = together.map(
    (group): Batch => ({
      operations: group,
      purpose: 'batch',
      call: manyCall(group as BatchableTask[], context.contracts.creditLine),
    }),
  )
  const single = alone.flatMap((operation): Batch[] => {
    const call = calls.get(operation)
    return call ? [{ operations: [operation], purpose: 'op', call }] : []
  })
  // Whatever carries the most urgent operation gets its nonce first.
  const place = ({ operations }: Batch) => Math.min(...operations.map((one) => due.indexOf(one)))
  return [...several, ...single].sort((left, right) => place(left) - place(right))
}

class LostRace extends Error {
  override name = 'LostRace'
}

/**
 * The write-ahead step: nonce, signature, transaction and operations in one commit, before anything
 * is sent. Only what is stored here is ever broadcast.
 */
async function assign(
  context: Context,
  { key, lane }: HeldLane,
  { operations, purpose, call }: Batch,
  fees: Fees,
): Promise<boolean> {
  const { gas, ...content } = call
  const operationIds = operations.map(({ id }) => id)
  try {
    await context.database.transaction(async (tx) => {
      const nonce = await drawNonce(tx, lane, context.holder)
      if (nonce === undefined) throw new LostRace('the lease of the lane was lost')
      const at = { lane: lane.address, nonce }
      const signed = await signCall(key, context.settings.chainId, { nonce, call, fees })
      await insertTransaction(tx, { ...at, ...content, purpose, operationIds })
      await insertAttempt(tx, { ...at, ...signed, ...fees, attempt: 1, purpose: 'call', gas })
      if (!(await assignOperations(tx, operationIds, at)))
        throw new LostRace('an operation was taken meanwhile')
    })
  } catch (error) {
    if (!(error instanceof LostRace)) throw error
    context.log.info({ lane: lane.address, reason: error.message }, 'assignment given up')
    return false
  }
  failpoint('relayer:transaction-stored')
  return true
}
