import pMap from 'p-map'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { refOf } from '#shared/chain/ref'
import { toUnixSeconds } from '#shared/clock'
import { failpoint } from '#shared/failpoint'
import { findUse, isUsedAt } from '../chain/authorization'
import { type AfterRevert, afterRevert, doubtsMax, revertOf } from '../chain/errors'
import type { Head } from '../chain/node'
import type { Context } from '../context'
import {
  drawNonce,
  insertAttempt,
  insertTransaction,
  type TransactionPurpose,
} from '../lanes/lane.store'
import type { HeldLane } from '../lanes/lease'
import {
  type BatchableTask,
  isRacing,
  lapsesSoon,
  type PayloadOf,
  payerOf,
} from '../operations/operation'
import {
  assignOperations,
  blockOfRef,
  findDue,
  newestRevision,
  type Operation,
  postponeOperation,
} from '../operations/operation.store'
import { giveUp, settle } from '../operations/order'
import { costWei, type Funds, fundsFor, inFlightWei, isCovered } from './cover'
import {
  batched,
  type Call,
  callOf,
  type Fees,
  feesFor,
  manyCall,
  runsForeignCode,
  signCall,
  transferTerms,
} from './transaction'

/**
 * Open transactions per lane at most. Monad lets an account bid 10 coins of gas within three
 * blocks: 16 full batches of credits at the least base fee are 6 of them.
 */
const openMax = 16
const dueMax = 256

/** What one transaction will carry: one operation, or several in `many`. */
type Batch = {
  operations: Operation[]
  purpose: TransactionPurpose
  call: Call
  /** What the wallet of a take or a send holds. */
  funds?: Funds | undefined
  /** The lane that must send it; any other one when it is left out. */
  only?: `0x${string}` | undefined
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

/** The wallet cannot pay this beside what it has in flight. */
class Uncovered extends Error {
  override name = 'Uncovered'
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
      if (funds && !(await isCovered(tx, operations[0]!, funds))) throw new Uncovered()
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
    if (error instanceof Uncovered) {
      await context.database.run((db) => postponeOperation(db, operationIds[0]!, unsettledMs, 0))
      return false
    }
    if (!(error instanceof LostRace)) throw error
    context.log.info({ lane: lane.address, reason: error.message }, 'assignment given up')
    return false
  }
  failpoint('relayer:transaction-stored')
  return true
}

/** What is known of an operation that may be sent. */
type Fit = Pick<Batch, 'call' | 'funds' | 'only'>

/** How an operation would be sent, and after which block. */
type Terms = { readonly from: `0x${string}`; readonly fees: Fees; readonly head: Head }

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
      context.logThrottled('examine', { err: error }, 'operation could not be examined')
      return undefined
    })
    if (found) fits.set(operation, found)
  }
  const examineAll = (wanted: readonly Operation[]) =>
    pMap(wanted, examineOne, { concurrency: examineAtOnce })
  await examineAll(due.filter(({ kind }) => isRacing(kind)))
  const ready = due.filter((operation) => !isRacing(operation.kind) || fits.has(operation))
  const { together, alone } = batched(ready, context.settings.batchMax)
  await examineAll(alone.filter((operation) => !fits.has(operation)))

  const several = together.map(
    (group): Batch => ({
      operations: group,
      purpose: 'batch',
      call: manyCall(group as BatchableTask[], context.contracts.creditLine),
    }),
  )
  const single = alone.flatMap((operation): Batch[] => {
    const found = fits.get(operation)
    return found ? [{ operations: [operation], purpose: 'op', ...found }] : []
  })
  // Whatever carries the most urgent operation gets its nonce first.
  const place = ({ operations }: Batch) => Math.min(...operations.map((one) => due.indexOf(one)))
  return [...several, ...single].sort((left, right) => place(left) - place(right))
}

const waitMs = 15_000
/** Two states of the chain disagree: the newer one is about to become final. */
const unsettledMs = 500

/**
 * Examines an operation before it gets a nonce, because a revert costs the whole gas limit. Answers
 * what to send; or undefined when the operation ended here, or must wait.
 */
async function examine(
  context: Context,
  operation: Operation,
  terms: Terms,
): Promise<Fit | undefined> {
  const { from, head } = terms
  if (await isNeedless(context, operation)) {
    await context.database.transaction((tx) => settle(tx, operation, null))
    context.log.info({ operationId: operation.id, kind: operation.kind }, 'nothing to send')
    context.poke()
    return undefined
  }
  if (runsOut(context, operation, head)) {
    await lookUp(context, operation)
    return undefined
  }
  if (operation.kind === 'drip' && !(await canAfford(context, operation, from))) return undefined
  const foreign = await runsForeignCode(context, operation)
  const call = await callOf(context, operation, foreign)
  const expected = await foresee(context, operation, { call, foreign, ...terms })
  if (expected === 'send') {
    const only = foreign ? from : undefined
    return { call, only, funds: await fundsFor(context, operation) }
  }
  await waitOrEnd(context, operation, expected)
  return undefined
}

/** Too little is left of its window, by our clock or by the chain's: sending it may cost gas for nothing. */
function runsOut({ clock }: Context, operation: Operation, head: Head): boolean {
  if (operation.kind !== 'take' && operation.kind !== 'send') return false
  const ours = BigInt(toUnixSeconds(clock()))
  const now = head.timestamp > ours ? head.timestamp : ours
  return lapsesSoon(operation.payload.authorization, now)
}

async function isNeedless(context: Context, operation: Operation): Promise<boolean> {
  const { database, node, settings } = context
  if (operation.kind === 'verify' || operation.kind === 'freeze')
    return (await database.read((db) => newestRevision(db, operation))) > operation.revision!
  if (operation.kind === 'extend') return isExtended(context, operation.payload)
  if (operation.kind !== 'drip') return false
  const heldWei = await node.reader.getBalance({ address: operation.wallet })
  return heldWei >= settings.dripBelowWei
}

/** Whether the hold ends, finally, later than it did when the order was given. */
async function isExtended({ node, contracts }: Context, { refId, until }: PayloadOf<'extend'>) {
  const { number: blockNumber } = await node.finalizedHead()
  const [, , , endsAt] = await node.reader.readContract({
    address: contracts.creditLine,
    abi: creditLineAbi,
    functionName: 'holdOf',
    args: [refOf(refId)],
    blockNumber,
  })
  return endsAt > BigInt(until)
}

async function canAfford(context: Context, operation: Operation, lane: `0x${string}`) {
  const { dripWei, laneFloorWei } = context.settings
  const balanceWei = await context.node.reader.getBalance({ address: lane })
  if (balanceWei - dripWei >= laneFloorWei && balanceWei > dripWei) return true
  const fields = { lane, balanceWei: String(balanceWei), alarm: true }
  context.logThrottled(`drips:${lane}`, fields, 'lane is too low on native coin for drips: fund it')
  await context.database.run((db) => postponeOperation(db, operation.id, waitMs, 0))
  return false
}

/**
 * Calls without sending, by the same sender, at the same gas and fees: a contract can see all three.
 * A refusal counts only when the finalized state refuses for the same reason as the newest. When
 * nobody can say, it is sent: a revert costs gas and nothing else. Where code of a user's might be
 * glad of that, it waits.
 */
async function foresee(
  context: Context,
  operation: Operation,
  { call, from, fees, foreign }: Terms & { call: Call; foreign: boolean },
): Promise<AfterRevert | 'send' | 'unsettled'> {
  const { to, data, valueWei: value, gas } = call
  const request = { from, to, data, value, gas, fees }
  try {
    const newest = await context.node.call(request, 'latest')
    if (!('reverted' in newest)) return 'send'
    const head = await context.node.finalizedHead()
    const settled = await context.node.call(request, head.number)
    const { treasury, contracts } = context
    const ours = [treasury.address, contracts.creditLine, contracts.ausd]
    const revert = revertOf(newest.reverted, ours)
    if (!('reverted' in settled) || revertOf(settled.reverted, ours) !== revert) return 'unsettled'
    if (revert === 'not_held' && (await isBehind(context, operation, head.number)))
      return 'unsettled'
    return afterRevert(revert, payerOf(operation.kind))
  } catch (error) {
    context.log.debug({ err: error, operationId: operation.id }, 'operation could not be simulated')
    return foreign ? 'unsettled' : 'send'
  }
}

/** An endpoint that lags behind the block of the payment says nothing about its hold. */
async function isBehind({ database }: Context, { payload }: Operation, blockNumber: bigint) {
  if (!('refId' in payload)) return false
  return blockNumber < (await database.read((db) => blockOfRef(db, payload.refId)))
}

/** It is not sent now: it is looked up, waits to be examined again, or has failed. */
async function waitOrEnd(
  context: Context,
  operation: Operation,
  expected: AfterRevert | 'unsettled',
) {
  const { database } = context
  const { id, kind } = operation
  const postpone = (ms: number, tries: 0 | 1 = 0) =>
    database.run((db) => postponeOperation(db, id, ms, tries))
  if (expected === 'unsettled') return postpone(unsettledMs)
  if (expected.do === 'look_up') return lookUp(context, operation)
  if (expected.do === 'doubt' && operation.tries < doubtsMax) return postpone(2_000, 1)
  if (expected.do === 'wait') {
    const fields = { operationId: id, kind, alarm: expected.alarm }
    context.logThrottled(
      `wait:${kind}`,
      fields,
      'operation has to wait: treasury, pause, freeze or role',
    )
    return postpone(expected.alarm ? waitMs : unsettledMs)
  }
  const { reason, alarm } = expected.do === 'fail' ? expected : { reason: 'reverted', alarm: true }
  await giveUp(context, operation, reason, alarm)
}

/**
 * The token says that this authorization is used, cancelled or expired. Finds out, in finalized
 * blocks alone, which: whoever submitted it, the transfer happened and counts.
 */
async function lookUp(context: Context, operation: Operation): Promise<void> {
  const postpone = (ms: number) =>
    context.database.run((db) => postponeOperation(db, operation.id, ms, 0))
  const terms = transferTerms(context, operation)
  if (!terms) return void (await postpone(5_000))
  const head = await context.node.finalizedHead()
  if (!(await isUsedAt(context, terms, head))) {
    if (operation.kind !== 'return' && head.timestamp >= BigInt(terms.validBefore))
      return giveUp(context, operation, 'authorization_expired', false)
    return void (await postpone(500))
  }
  const use = await findUse(context, terms, head, operation.createdAt)
  if (use === 'cancelled') return giveUp(context, operation, 'authorization_cancelled', false)
  if (use === 'used_elsewhere')
    return giveUp(context, operation, 'authorization_used_elsewhere', true)
  if (use === 'unknown') {
    const fields = { operationId: operation.id, alarm: true }
    context.logThrottled(`use:${operation.id}`, fields, 'use of an authorization was not found')
    return void (await postpone(5_000))
  }
  await context.database.transaction((tx) => settle(tx, operation, use.used))
  context.log.info(
    { operationId: operation.id, txHash: use.used.txHash },
    'done by a transaction of somebody else',
  )
  context.poke()
}
