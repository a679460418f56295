import pMap from 'p-map'
import { openQueues } from '#platform/bus/queue'
import { ageMs, isRecent } from '#platform/clock'
import { isTooLate } from '#platform/db/compiled-query'
import type { Tx } from '#platform/db/open'
import { failpoint } from '#platform/failpoint'
import { bundledTransferGas } from '#shared/chain/gas'
import { type ChainSnapshot, type LaneRefusal, takeSnapshot } from '../chain/chain-snapshot'
import { type Context, nonceKey } from '../context'
import type { CallToSign, Fees } from '../keys/keys'
import { type PolicyRefusal, PolicyRefused, spendsOfCall } from '../keys/policy'
import { addressesOf, type HeldLane } from '../lanes/held-lanes'
import {
  drawNonce,
  insertTransaction,
  type OpenTransaction,
  openNow,
  type TransactionPurpose,
} from '../lanes/lane.store'
import { type BatchableTask, isBatchable, isProtective, isVerdict } from '../operations/operation'
import { assignOperations, findDue, postponeOperation } from '../operations/operation.store'
import type { Operation } from '../operations/operation.table'
import { giveUp } from '../operations/order'
import { lockWallets } from '../operations/wallet.store'
import { broadcastDue } from './broadcast'
import { bundlesOf } from './bundle'
import { bidRoomWei, bidWei, type Cover, costWei, coverOf, inFlightWei } from './funding'
import { type Fit, holdRefused, preflight, type RoundTerms, unsettledRestMs } from './preflight'
import {
  atLeast,
  batched,
  bundleCall,
  feesFor,
  isSigned,
  lineCall,
  lineGasLimit,
  manyCall,
  manyGas,
  runsForeignCode,
} from './transaction'

const dueMax = 256

type Batch = Fit & {
  operations: Operation[]
  purpose: TransactionPurpose
}

/** A lane and what it may still do in this round. */
type Room = HeldLane & {
  nextNonce: number
  openCount: number
  roomWei: bigint
  bidRoomWei: bigint
}

export async function assignWaiting(context: Context, held: readonly HeldLane[]): Promise<number> {
  const sound = held.filter((lane) => lane.sound)
  const areStuck = await Promise.all(sound.map((lane) => isStuck(context, lane)))
  const usable = sound.filter((_, at) => !areStuck[at])
  if (usable.length === 0) return 0
  const { newest, finalized, balancesWei, refusedLanes } = await takeSnapshot(context, addressesOf(held))
  const { baseFeeWei } = finalized
  const fees = feesFor(baseFeeWei)
  const bidOf = ({ gas }: Pick<CallToSign, 'gas'>) => bidWei(gas, fees, baseFeeWei)
  const lanes = withoutRefused(context, usable, refusedLanes).map((one) =>
    roomOf(one, balancesWei.get(one.lane.address)!),
  )
  const rowsMax = roomAmong(lanes, bidOf({ gas: bundledTransferGas }))
  if (rowsMax === 0) return 0
  const due = await context.database.read((db) => findDue(db, rowsMax))
  if (due.length === 0) return 0
  const freestFor = (cost: bigint, without: readonly Room[] = []) =>
    lanes
      .filter((one) => one.roomWei >= cost && !without.includes(one))
      .sort((left, right) => (left.bidRoomWei > right.bidRoomWei ? -1 : 1))[0]
  const terms: RoundTerms = {
    senderOf: (cost) => (freestFor(cost) ?? lanes[0]!).lane.address,
    canSend: (gas) => freestFor(costWei({ valueWei: 0n, gas }, fees)) !== undefined,
    mayBatch: lanes.some(({ lane }) => refusedLanes.get(lane.address) !== 'no_role'),
    fees,
    newest,
  }
  let given = 0
  const inTurn = openQueues()
  const lost = new Set<string>()
  const give = async (batch: Batch, refusing: readonly Room[] = []): Promise<void> => {
    const cost = costWei(batch.call, fees)
    const only = lanes.find(({ lane }) => lane.address === batch.only)
    const chosen = only ?? freestFor(cost, refusing)
    if (chosen && lost.has(chosen.lane.address)) return
    if (!chosen || chosen.roomWei < cost) {
      const fields = { lanes: lanes.map(({ lane }) => lane.address) }
      context.logThrottled.alarm('room', fields, 'lane balance too low for new transactions: fund it')
      return
    }
    const bid = bidOf(batch.call)
    // A bid above the remaining limit is sent only if nothing else is open; the chain then decides.
    if (chosen.bidRoomWei < bid && chosen.openCount > 0) return
    const take = (count: 1 | -1) => {
      chosen.openCount += count
      chosen.roomWei -= BigInt(count) * cost
      chosen.bidRoomWei -= BigInt(count) * bid
    }
    take(1)
    // Each nonce of a lane is known once the one before is stored.
    const outcome = await inTurn(chosen.lane.address, async () => {
      const stored = await assign(context, chosen, batch, fees)
      if (typeof stored !== 'string' && 'nonce' in stored) chosen.nextNonce = stored.nonce + 1
      return stored
    })
    if (outcome === 'lane lost') lost.add(chosen.lane.address)
    if (typeof outcome === 'string') return take(-1)
    if ('refusal' in outcome) {
      take(-1)
      const { refusal } = outcome
      const refused = [...refusing, chosen]
      // Each key has a daily limit of its own.
      const hasAnother = refusal.by === 'limit' && !only && freestFor(cost, refused) !== undefined
      return hasAnother ? give(batch, refused) : holdAll(context, batch.operations, refusal)
    }
    given += 1
    chosen.open.push(outcome)
    chosen.open.sort((left, right) => left.nonce - right.nonce)
  }
  for await (const batches of batchesOf(context, due, terms)) {
    // Transactions of one lane commit one after another, because each needs the nonce after the last.
    await pMap(batches, (batch) => give(batch), { concurrency: lanes.length })
    // A hold may end while the next operations are examined.
    if (batches.some(({ operations }) => operations.some(({ kind }) => isProtective(kind))))
      await broadcastDue(context, usable)
  }
  if (given > 0 && due.length === rowsMax) context.wake()
  return given

  function roomOf(one: HeldLane, balanceWei: bigint): Room {
    return {
      ...one,
      nextNonce: one.lane.nextNonce,
      openCount: one.open.length,
      // guard: a lane near its reserve accepts no new operation
      roomWei: balanceWei - inFlightWei(one.open) - context.settings.laneMinBalanceWei,
      bidRoomWei: bidRoomWei(balanceWei, one.open, baseFeeWei),
    }
  }
}

/**
 * Returns true if the oldest transaction of a lane is stuck: a new one would wait behind it, so another lane, or this
 * one later, is sooner.
 */
async function isStuck(
  { clock, settings, node }: Context,
  { lane: { address }, open: [oldest] }: HeldLane,
): Promise<boolean> {
  if (!oldest || ageMs(oldest.createdAt, clock()) <= settings.bumpAfterMs) return false
  const count = await node.countAt(address, 'latest').catch(() => 0)
  return count <= oldest.nonce
}

const refusalLines = {
  frozen: 'lane frozen by the issuer of AUSD',
  no_role: 'lane without its role on the credit line',
} as const

/**
 * Returns the lanes whose calls the contracts accept. If there are none, returns those of which only the token refuses the
 * calls, or else all, because the other contracts still accept them.
 */
function withoutRefused(
  context: Context,
  lanes: readonly HeldLane[],
  refused: ChainSnapshot['refusedLanes'],
): readonly HeldLane[] {
  for (const lane of addressesOf(lanes)) {
    const why = refused.get(lane)
    if (why) context.logThrottled.alarm(`${why}:${lane}`, { lane }, refusalLines[why])
  }
  const ofLanes = (why: LaneRefusal | undefined) => lanes.filter(({ lane }) => refused.get(lane.address) === why)
  return [ofLanes(undefined), ofLanes('frozen')].find((some) => some.length > 0) ?? lanes
}

/** Returns how many more operations the lanes may send, which is 0 while every lane is at its bid limit. */
function roomAmong(
  lanes: readonly { readonly openCount: number; readonly bidRoomWei: bigint }[],
  leastBidWei: bigint,
): number {
  const roomWei = lanes.reduce((sum, lane) => sum + atLeast(lane.bidRoomWei, 0n), 0n)
  const room = Math.min(dueMax, Number(roomWei / leastBidWei))
  return room === 0 && lanes.some(({ openCount }) => openCount === 0) ? 1 : room
}

/** Rolls an assignment back, and with it the nonce. */
class NothingCovered extends Error {
  override name = 'NothingCovered'
}

type Assigned = OpenTransaction | 'nothing stored' | 'lane lost' | { readonly refusal: PolicyRefusal }

/**
 * Stores nonce, signature, transaction and operations in one commit; only stored bytes are broadcast. Leaves out
 * transfers that their wallets could not pay.
 */
async function assign(
  context: Context,
  { key, lane, nextNonce: nonce }: Room,
  batch: Batch,
  fees: Fees,
): Promise<Assigned> {
  if (!key) return 'nothing stored'
  const { operations, purpose, funds } = batch
  const costEachWei = costWei(batch.call, fees) / BigInt(operations.length)
  let covers: ReadonlyMap<Operation, Cover> = new Map()
  let stored: OpenTransaction | 'nothing stored' = 'nothing stored'
  let isDrawn = () => false
  let going: readonly Operation[] = []
  try {
    stored = await context.database.transaction(async (tx) => {
      const verdicts = operations.filter(({ kind }) => isVerdict(kind))
      // guard: verdicts of a wallet are assigned one after another
      if (verdicts.length > 0)
        lockWallets(
          tx,
          verdicts.map(({ wallet }) => wallet),
        )
      const covering = readCovers(tx)
      isDrawn = drawNonce(tx, { ...lane, nextNonce: nonce }, context.holder)
      await covering
      going = operations.filter((one) => (covers.get(one) ?? 'room') === 'room')
      if (going.length === 0) throw new NothingCovered()
      const { gas, ...content } = callFor(context, batch, going)
      const operationIds = going.map(({ id }) => id)
      const at = { lane: lane.address, nonce }
      // guard: a transaction is stored before it is sent
      const signed = await key.sign(tx, { nonce, call: { ...content, gas }, fees })
      const transaction = { ...at, ...content, purpose, operationIds }
      const attempt = { ...at, ...signed, ...fees, attempt: 1, purpose: 'call', gas } as const
      assignOperations(tx, operationIds, at)
      insertTransaction(tx, transaction, attempt)
      failpoint('chain-relayer:transaction-signed')
      return openNow(transaction, attempt, new Date(context.clock()))
    })
  } catch (error) {
    if (error instanceof PolicyRefused) return { refusal: error.refusal }
    if (isTooLate(error)) {
      const isLaneLost = !isDrawn()
      const reason = isLaneLost ? 'lane lease lost' : 'operation assigned by another instance'
      context.log.info({ lane: lane.address, reason }, 'assignment abandoned')
      return isLaneLost ? 'lane lost' : 'nothing stored'
    }
    if (!(error instanceof NothingCovered)) throw error
  }
  if (stored !== 'nothing stored') {
    context.memory.carried.set(nonceKey(lane.address, nonce), going)
    failpoint('chain-relayer:transaction-stored')
  }
  for (const [operation, cover] of covers) await postpone(context, operation, cover)
  return stored

  async function readCovers(tx: Tx): Promise<void> {
    if (funds) covers = await coverOf(tx, context, operations, { funds, costEachWei })
  }
}

const callFor = ({ contracts }: Context, { operations, call }: Batch, going: readonly Operation[]): CallToSign =>
  going.length === operations.length ? call : bundleCall(going.filter(isSigned), contracts.ausd)

async function postpone(context: Context, operation: Operation, cover: Cover): Promise<void> {
  if (cover === 'spent') await giveUp(context, operation, 'gas_budget_spent', false)
  if (cover === 'later')
    await context.database.run((db) => postponeOperation(db, operation.id, unsettledRestMs(context, operation), 0))
}

/** Holds refused operations. Those of a batch are retried alone, so that the others pass. */
async function holdAll(context: Context, operations: readonly Operation[], refusal: PolicyRefusal) {
  const [first, ...others] = operations
  if (others.length === 0) return holdRefused(context, first!, refusal)
  for (const { id } of operations) await context.database.run((db) => postponeOperation(db, id, 0, 1))
}

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
/** Time in ms after which examinations end a round, so that new protective operations do not wait. */
const examineForMs = 2_000
/** Most operations per round whose examination runs code of a wallet, because all share one budget of calls. */
const foreignPerRound = 2

/**
 * Yields batches as soon as they are examined, so that slow operations delay no others. Protective ones come first, some at
 * a time, then those that need no examination of their own, then the others, and last those that run code of a wallet.
 */
async function* batchesOf(
  context: Context,
  due: readonly Operation[],
  terms: RoundTerms,
): AsyncGenerator<readonly Batch[]> {
  const startedAt = context.clock()
  const fits = new Map<Operation, Fit>()
  const examineOne = async (operation: Operation) => {
    const found = await preflight(context, operation, terms).catch((error) => {
      if (error instanceof PolicyRefused) return holdRefused(context, operation, error.refusal)
      context.logThrottled.warn('examine', { err: error }, 'operation check failed, will retry')
      return undefined
    })
    if (found) fits.set(operation, found)
  }
  const examineAll = (wanted: readonly Operation[]) => pMap(wanted, examineOne, { concurrency: examineAtOnce })
  const protective = due.filter(({ kind }) => isProtective(kind))
  const atOnce = Math.max(examineAtOnce, context.settings.batchMax)
  for (let from = 0; from < protective.length; from += atOnce) {
    if (from > 0 && !isRecent(startedAt, context.clock(), examineForMs)) {
      // The others wait for the round in which no protective one is left.
      context.wake()
      return
    }
    const group = protective.slice(from, from + atOnce)
    await examineAll(group)
    yield batchedOf(
      context,
      group.filter((operation) => fits.has(operation)),
      fits,
      terms,
    )
  }

  const others = due.filter((operation) => !protective.includes(operation))
  const foreign = new Set<Operation>()
  for (const operation of others) if (await runsForeignCode(context, operation)) foreign.add(operation)
  const own = others.filter((operation) => !foreign.has(operation))
  const sharing = own.filter((operation) => mayShare(context, operation))
  const { together, alone: single } = batchesOfLine(context, sharing, terms)
  yield together.map((group) => batchOf(context, group))

  const bundles = await bundlesOf(context, single, terms)
  yield bundles.map(
    ({ operations, funds }): Batch => ({
      operations: [...operations],
      purpose: 'batch',
      funds,
      call: bundleCall(operations, context.contracts.ausd),
    }),
  )
  const given = new Set<Operation>([...together.flat(), ...bundles.flatMap(({ operations }) => operations)])
  const alone = own.filter((operation) => !given.has(operation))
  const leastRecent = [...foreign].sort((left, right) => left.notBefore.getTime() - right.notBefore.getTime())
  for (let from = 0; from < alone.length; from += examineAtOnce) {
    const group = alone.slice(from, from + examineAtOnce)
    await examineAll(group)
    yield group.flatMap((operation) => singleOf(operation, fits))
    if (isRecent(startedAt, context.clock(), examineForMs)) continue
    context.wake()
    break
  }
  // Even a slow round examines some of these, or their owners would wait for as long as others are slow.
  const last = leastRecent.slice(0, foreignPerRound)
  await examineAll(last)
  yield last.flatMap((operation) => singleOf(operation, fits))
  if (foreign.size > foreignPerRound) context.wake()
}

/** Returns batches of operations that have been examined. */
function batchedOf(
  context: Context,
  operations: readonly Operation[],
  fits: ReadonlyMap<Operation, Fit>,
  terms: RoundTerms,
): Batch[] {
  const sharing = operations.filter((operation) => mayShare(context, operation))
  const { together } = batchesOfLine(context, sharing, terms)
  const shared = new Set(together.flat())
  return [
    ...together.map((group) => batchOf(context, group)),
    ...operations.filter((operation) => !shared.has(operation)).flatMap((operation) => singleOf(operation, fits)),
  ]
}

/** Divides operations into batches that a lane can pay, unless none can pay for even one operation. */
function batchesOfLine({ settings }: Context, operations: readonly Operation[], { canSend, mayBatch }: RoundTerms) {
  const tasks = operations.filter(({ kind }) => isBatchable(kind)) as BatchableTask[]
  const isPaid = (group: readonly Operation[]) => canSend(manyGas(group as readonly BatchableTask[]))
  return batched(
    operations,
    mayBatch ? settings.batchMax : 1,
    tasks.some((task) => canSend(lineGasLimit(task))) ? isPaid : undefined,
  )
}

const batchOf = ({ contracts }: Context, group: readonly Operation[]): Batch => ({
  operations: [...group],
  purpose: 'batch',
  call: manyCall([...group] as BatchableTask[], contracts.creditLine),
})

function singleOf(operation: Operation, fits: ReadonlyMap<Operation, Fit>): Batch[] {
  const found = fits.get(operation)
  return found ? [{ operations: [operation], purpose: 'op', ...found }] : []
}
