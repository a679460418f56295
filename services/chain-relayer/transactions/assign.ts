import pMap from 'p-map'
import { failpoint } from '#shared/failpoint'
import type { Context } from '../context'
import type { Fees } from '../keys/keys'
import { PolicyRefused, type Refusal, spendsOfCall } from '../keys/policy'
import {
  drawNonce,
  insertAttempt,
  insertTransaction,
  type TransactionPurpose,
} from '../lanes/lane.store'
import type { HeldLane } from '../lanes/lease'
import { type BatchableTask, isBatchable, isRacing } from '../operations/operation'
import {
  assignOperations,
  findDue,
  type Operation,
  postponeOperation,
} from '../operations/operation.store'
import { giveUp } from '../operations/order'
import { budgetOf, costWei, inFlightWei, isCovered } from './cover'
import { examine, type Fit, holdRefused, type Terms, unsettledMs } from './examine'
import { batched, feesFor, lineCall, manyCall } from './transaction'

/**
 * Open transactions per lane at most. Monad lets an account bid 10 coins of gas within three
 * blocks: 16 full batches of credits at the least base fee are 6 of them.
 */
const openMax = 16
const dueMax = 256

/** What one transaction will carry: one operation, or several in `many`. */
type Batch = Fit & {
  operations: Operation[]
  purpose: TransactionPurpose
}

/** Gives waiting operations a lane and a nonce, signed and stored in one commit each. */
export async function assignWaiting(context: Context, held: readonly HeldLane[]): Promise<void> {
  const usable = held.filter(({ sound, open }) => sound && open.length < openMax)
  if (usable.length === 0) return
  const due = await context.database.read((db) => findDue(db, dueMax))
  if (due.length === 0) return
  const lanes = await Promise.all(usable.map((one) => withRoom(context, one)))
  const head = await context.node.newestHead()
  const fees = feesFor(head.baseFeeWei)
  const freestOf = (costWei: bigint) =>
    lanes
      .filter(({ roomWei }) => roomWei >= costWei)
      .sort((left, right) => right.free - left.free)[0]
  const terms = { from: (freestOf(1n) ?? lanes[0]!).lane.address, fees, head }
  for (const batch of await batchesOf(context, due, terms)) {
    if (lanes.every(({ free }) => free === 0)) return
    const cost = costWei(batch.call, fees)
    const only = lanes.find(({ lane }) => lane.address === batch.only)
    const chosen = only ?? freestOf(cost)
    if (!chosen || chosen.roomWei < cost) {
      const fields = { lanes: lanes.map(({ lane }) => lane.address), alarm: true }
      context.logThrottled('room', fields, 'lane is near its reserve, takes nothing new: fund it')
      continue
    }
    if (chosen.free === 0 || !(await assign(context, chosen, batch, fees))) continue
    chosen.free--
    chosen.roomWei -= cost
  }
}

/** A lane, how many more transactions it may have open, and what they may cost it, in wei. */
async function withRoom({ node, settings }: Context, held: HeldLane) {
  const balanceWei = await node.reader.getBalance({ address: held.lane.address })
  const roomWei = balanceWei - inFlightWei(held.open) - settings.laneFloorWei
  return { ...held, free: openMax - held.open.length, roomWei }
}

/** The wallet cannot pay this, or its budget not the gas, beside what it has in flight. */
class Uncovered extends Error {
  override name = 'Uncovered'
}

/** What the wallet's transfers burnt by reverting is all that a day is given for that. */
class BudgetSpent extends Error {
  override name = 'BudgetSpent'
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
  { operations, purpose, call, funds }: Batch,
  fees: Fees,
): Promise<boolean> {
  const { gas, ...content } = call
  const operationIds = operations.map(({ id }) => id)
  try {
    await context.database.transaction(async (tx) => {
      if (funds) {
        const [operation] = operations
        if (!(await isCovered(tx, operation!, funds))) throw new Uncovered()
        const budget = await budgetOf(tx, context, operation!, costWei(call, fees))
        if (budget === 'spent') throw new BudgetSpent()
        if (budget === 'later') throw new Uncovered()
      }
      const nonce = await drawNonce(tx, lane, context.holder)
      if (nonce === undefined) throw new LostRace('the lease of the lane was lost')
      const at = { lane: lane.address, nonce }
      const signed = await key.sign(tx, { nonce, call, fees })
      await insertTransaction(tx, { ...at, ...content, purpose, operationIds })
      await insertAttempt(tx, { ...at, ...signed, ...fees, attempt: 1, purpose: 'call', gas })
      if (!(await assignOperations(tx, operationIds, at)))
        throw new LostRace('an operation was taken meanwhile')
    })
  } catch (error) {
    if (error instanceof Uncovered) {
      await context.database.run((db) => postponeOperation(db, operationIds[0]!, unsettledMs, 0))
      return false
    }
    if (error instanceof BudgetSpent) {
      await giveUp(context, operations[0]!, 'gas_budget_spent', false)
      return false
    }
    if (error instanceof PolicyRefused) {
      await holdAll(context, operations, error.refusal)
      return false
    }
    if (!(error instanceof LostRace)) throw error
    context.log.info({ lane: lane.address, reason: error.message }, 'assignment given up')
    return false
  }
  failpoint('relayer:transaction-stored')
  return true
}

/** Of several in one transaction each is tried alone next: those that are within the limits pass. */
async function holdAll(context: Context, operations: readonly Operation[], refusal: Refusal) {
  const [first, ...others] = operations
  if (others.length === 0) return holdRefused(context, first!, refusal)
  for (const { id } of operations)
    await context.database.run((db) => postponeOperation(db, id, 0, 1))
}

/** Whether a key would sign it, as far as the day's sum allows. Whatever is sent alone is examined. */
function mayShare({ policy, contracts }: Context, operation: Operation): boolean {
  if (!isBatchable(operation.kind)) return true
  try {
    spendsOfCall(policy, 0, lineCall(operation as BatchableTask, contracts.creditLine))
    return true
  } catch (error) {
    if (error instanceof PolicyRefused) return false
    throw error
  }
}

const examineAtOnce = 8

/** What is due and fit to be sent, the most urgent first; whatever else is due waits or ends here. */
async function batchesOf(
  context: Context,
  due: readonly Operation[],
  terms: Terms,
): Promise<Batch[]> {
  const fits = new Map<Operation, Fit>()
  const examineOne = async (operation: Operation) => {
    const found = await examine(context, operation, terms).catch((error) => {
      if (error instanceof PolicyRefused) return holdRefused(context, operation, error.refusal)
      context.logThrottled('examine', { err: error }, 'operation could not be examined')
      return undefined
    })
    if (found) fits.set(operation, found)
  }
  const examineAll = (wanted: readonly Operation[]) =>
    pMap(wanted, examineOne, { concurrency: examineAtOnce })
  await examineAll(due.filter(({ kind }) => isRacing(kind)))
  const ready = due.filter((operation) => !isRacing(operation.kind) || fits.has(operation))
  const sharing = ready.filter((operation) => mayShare(context, operation))
  const { together, alone: single } = batched(sharing, context.settings.batchMax)
  const alone = [...single, ...ready.filter((operation) => !sharing.includes(operation))]
  await examineAll(alone.filter((operation) => !fits.has(operation)))

  const several = together.map(
    (group): Batch => ({
      operations: group,
      purpose: 'batch',
      call: manyCall(group as BatchableTask[], context.contracts.creditLine),
    }),
  )
  const singles = alone.flatMap((operation): Batch[] => {
    const found = fits.get(operation)
    return found ? [{ operations: [operation], purpose: 'op', ...found }] : []
  })
  // Whatever carries the most urgent operation gets its nonce first.
  const place = ({ operations }: Batch) => Math.min(...operations.map((one) => due.indexOf(one)))
  return [...several, ...singles].sort((left, right) => place(left) - place(right))
}
