import { pMapSettled } from 'p-map'
import type { Hex } from 'viem'
import { ageMs, isRecent } from '#platform/clock'
import { fromNow } from '#platform/db/columns'
import { isTooLate } from '#platform/db/compiled-query'
import type { Tx } from '#platform/db/open'
import { failpoint } from '#platform/failpoint'
import { flowSeconds, timer } from '#platform/metrics/measures'
import { withRequestId } from '#platform/request-id'
import { spanSince } from '#platform/tracing/spans'
import { type PlaceOnChain, same } from '../chain/authorization'
import { takeSnapshot } from '../chain/chain-snapshot'
import type { ChainReceipt, Head } from '../chain/node'
import { findNonceUse } from '../chain/nonce'
import { type Context, nonceKey } from '../context'
import type { CallToSign } from '../keys/keys'
import { addressesOf, type HeldLane } from '../lanes/held-lanes'
import {
  type Attempt,
  closeTransaction,
  findOpen,
  type OpenTransaction,
  stillHeld,
  type TransactionOutcome,
} from '../lanes/lane.store'
import { bookTransaction } from '../ledger/book'
import type { Concluded } from '../ledger/position'
import { isHopeless, isUpToWallet, openStates } from '../operations/operation'
import { findOperations, moveOperation } from '../operations/operation.store'
import type { Operation } from '../operations/operation.table'
import { fail, settleAll } from '../operations/order'
import { costOf, paidFor, type Spent } from './cost'
import { chargeGas } from './funding'
import { doneIn, noopCall, repaidIn, runsForeignCode } from './transaction'

const concludeAtOnce = 8
/** Age in ms from which a used nonce without a receipt raises an alert. */
const missingMs = 60_000
const searchEveryMs = 10_000

const lanesPerRound = 2

/**
 * Reads the receipts of the nonces used at the finalized block; a transaction without proof stays open. Lanes take
 * turns, because each costs a call and rounds come with every block. Returns the number checked.
 */
export async function finalize(context: Context, held: readonly HeldLane[]): Promise<number> {
  const { counted } = context.memory
  const busy = held.filter(({ open }) => open.length > 0)
  if (busy.length === 0) return 0
  const { finalized: head } = await takeSnapshot(context, addressesOf(held))
  const isDue = ({ lane: { address, epoch } }: HeldLane) => {
    const last = counted.get(address)
    return last?.epoch !== epoch || last.to !== head.number
  }
  const due = busy
    .filter(isDue)
    .sort((one, two) => (countedAt(one) < countedAt(two) ? -1 : 1))
    .slice(0, lanesPerRound)
  const failures: unknown[] = []
  let looked = 0
  for (const { lane, open } of due) {
    const tried = await concludeLane(context, lane, open, head).catch((error) => {
      failures.push(error)
      return []
    })
    looked += tried.length
    failures.push(...tried.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])))
  }
  if (failures.length > 0) throw failures[0]
  return looked

  function countedAt({ lane: { address } }: HeldLane): number {
    return counted.get(address)?.at ?? 0
  }
}

async function concludeLane(
  context: Context,
  { address, nextNonce, epoch }: HeldLane['lane'],
  open: HeldLane['open'],
  head: Head,
): Promise<PromiseSettledResult<boolean>[]> {
  const { memory, clock } = context
  memory.counted.set(address, { epoch, at: clock(), to: undefined })
  const count = await countOf(context, address, open, head)
  // Another sender used the key of this lane.
  if (count > nextNonce) memory.sound.delete(address)
  // guard: an outcome is reported once its block is final
  const mined = open.filter(({ nonce }) => nonce < count)
  const concludeThis = async (transaction: OpenTransaction) => {
    const isClosed = await concludeOne(context, { transaction, head, epoch })
    if (isClosed) open.splice(open.indexOf(transaction), 1)
    return isClosed
  }
  const tried = await pMapSettled(mined, concludeThis, { concurrency: concludeAtOnce })
  const isWhole = tried.every((one) => one.status === 'fulfilled' && one.value)
  if (isWhole) memory.counted.set(address, { epoch, at: clock(), to: head.number })
  return tried
}

/**
 * Returns how many transactions of a lane are final. The state of an endpoint may have stopped although its blocks go on,
 * so all are asked while the oldest transaction is in no block for long. Nothing is concluded without a final receipt.
 */
async function countOf(
  { node, clock, settings }: Context,
  address: Hex,
  open: readonly OpenTransaction[],
  head: Head,
): Promise<number> {
  const count = await node.countAt(address, head.number)
  const [oldest] = open
  const isLate = oldest && count <= oldest.nonce && ageMs(oldest.createdAt, clock()) > settings.rebroadcastAfterMs
  return isLate ? (await node.highestCount(address, head.number)).count : count
}

type Mined = {
  readonly transaction: OpenTransaction
  readonly head: Head
  readonly epoch: number
}

async function concludeOne(context: Context, mined: Mined): Promise<boolean> {
  const { transaction, head } = mined
  const found = await finalReceipt(context, transaction, head).catch((error) => {
    context.logThrottled.warn('receipts', { err: error }, 'receipt lookup failed, will retry')
    return undefined
  })
  if (found) return conclude(context, transaction, found.attempt, found.receipt)
  const { lane, nonce, createdAt } = transaction
  if (context.clock() - createdAt.getTime() < missingMs) return false
  const fields = { lane, nonce }
  const use = await searchUse(context, transaction, head)
  if (!use) {
    const key = `missing:${lane}:${nonce}`
    context.logThrottled.alarm(key, fields, 'nonce used but no receipt found')
    return false
  }
  const { place, spent } = use
  const lost = lostAttempt(transaction, place, spent)
  if (lost) return concludeLost(context, mined, lost)
  const { cost } = spent
  const isForeign = (tx: Tx) => isUsedByAnother(tx, context, mined, place)
  const concluded = { outcome: 'foreign', ...cost } as const
  if (!(await close(context, transaction, { concluded, place, isProven: isForeign }))) return false
  context.log.alarm({ ...fields, txHash: place.txHash }, 'lane key used by another sender')
  return true
}

/**
 * Returns the attempt of ours that used the nonce, if its row is lost, as after a failover to a standby that lagged: only
 * the key of the lane could sign the same content.
 */
function lostAttempt(
  { lane, to, data, valueWei, attempts }: OpenTransaction,
  { txHash: hash }: PlaceOnChain,
  spent: Spent,
): Attempt | undefined {
  const isSame = (call: Pick<CallToSign, 'to' | 'data' | 'valueWei'>) =>
    same(call.to, spent.to ?? '') && same(call.data, spent.data) && call.valueWei === spent.sentWei
  const purpose = isSame({ to, data, valueWei }) ? 'call' : isSame(noopCall(lane)) ? 'noop' : undefined
  return purpose && { ...attempts.at(-1)!, ...spent.bid, hash, purpose }
}

async function concludeLost(context: Context, { transaction, head }: Mined, lost: Attempt): Promise<boolean> {
  const found = await finalReceipt(context, { ...transaction, attempts: [lost] }, head)
  if (!found) return false
  const { lane, nonce } = transaction
  context.log.warn({ lane, nonce, txHash: lost.hash }, 'transaction ended by an attempt whose row is lost')
  return conclude(context, transaction, lost, found.receipt)
}

/** Returns true if another instance holds the lane by now, as after a stall, and may have signed a new attempt. */
async function isUsedByAnother(
  tx: Tx,
  { holder }: Context,
  { transaction: { lane, nonce }, epoch }: Mined,
  { txHash }: PlaceOnChain,
): Promise<boolean> {
  if (!(await stillHeld(tx, { address: lane, epoch }, holder))) return false
  const [now] = (await findOpen(tx, [lane])).filter((one) => one.nonce === nonce)
  return now?.attempts.every(({ hash }) => hash !== txHash) ?? false
}

/** Searches for the transaction that used a nonce. It takes many calls, so it runs at intervals. */
async function searchUse(context: Context, { lane, nonce, attempts }: OpenTransaction, head: Head) {
  const { node, memory, clock, log } = context
  const key = nonceKey(lane, nonce)
  if (isRecent(memory.searchedAt.get(key) ?? 0, clock(), searchEveryMs)) return undefined
  memory.searchedAt.set(key, clock())
  try {
    const place = await findNonceUse(node, lane, nonce, head)
    if (!place || attempts.some(({ hash }) => hash === place.txHash)) return undefined
    if (!(await isFinal(context, place, head))) return undefined
    const spent = await costOf(node, lane, place)
    return spent && { place, spent }
  } catch (error) {
    log.warn({ err: error, lane, nonce }, 'could not look up which transaction used the nonce')
    return undefined
  }
}

/**
 * Returns a receipt whose block is final, because an endpoint may still serve receipts of a discarded block. The nonce
 * is used, so that an endpoint without a final receipt lacks it and the others are asked. They are also asked for the logs
 * of a receipt without any, because an endpoint may omit them.
 */
async function finalReceipt(
  context: Context,
  { data, attempts }: Pick<OpenTransaction, 'data' | 'attempts'>,
  head: Head,
): Promise<{ attempt: Attempt; receipt: ChainReceipt } | undefined> {
  for (const isLast of [false, true]) {
    for (const attempt of attempts.toReversed()) {
      const mayHaveLogs = data !== '0x' && attempt.purpose !== 'noop'
      const isWhole = ({ status, logs }: ChainReceipt) => !mayHaveLogs || status === 'reverted' || logs.length > 0
      const accepts = async (receipt: ChainReceipt) => isWhole(receipt) && (await isFinal(context, receipt, head))
      const receipt = await context.node.receiptOf(attempt.hash, isLast ? accepts : undefined)
      if (!receipt || !(isLast || isWhole(receipt))) continue
      // guard: an outcome is reported once its block is final
      if (await isFinal(context, receipt, head)) return { attempt, receipt }
    }
  }
  return undefined
}

/** Most blocks that are checked by their parent hashes; older ones are compared by number. */
const ancestorsMax = 256n

/**
 * Reads the blocks up to the head and returns true if the block is final. Throws unless each block names the one before
 * as its parent.
 */
async function isFinal(
  { node, memory: { ancestors } }: Context,
  block: { readonly blockNumber: bigint; readonly blockHash: Hex },
  head: Head,
): Promise<boolean> {
  const oldest = head.number - ancestorsMax
  if (block.blockNumber < oldest) return (await node.headAt(block.blockNumber)).hash === block.blockHash
  for (const number of ancestors.keys()) if (number < oldest) ancestors.delete(number)
  ancestors.set(head.number, Promise.resolve(head))
  let at = head
  for (const reading of numbersFrom(head.number - 1n, block.blockNumber).map(remember)) {
    const parent = await reading
    if (parent.hash !== at.parentHash) {
      ancestors.clear()
      throw new Error(`the endpoint has another block than ${at.parentHash}`)
    }
    at = parent
  }
  // guard: a receipt counts only while its block is unchanged
  return at.hash === block.blockHash

  function remember(number: bigint): Promise<Head> {
    const known = ancestors.get(number)
    if (known) return known
    const reading = node.headAt(number)
    ancestors.set(number, reading)
    reading.catch(() => ancestors.get(number) === reading && ancestors.delete(number))
    return reading
  }
}

const numbersFrom = (first: bigint, last: bigint): bigint[] =>
  Array.from({ length: Math.max(0, Number(first - last) + 1) }, (_, step) => first - BigInt(step))

/** Time in ms until a reverted drip is retried, in which the lane has to be funded. */
const dripRestMs = 15_000

type Ending = 'settled' | 'failed' | 'waiting'

async function conclude(
  context: Context,
  transaction: OpenTransaction,
  attempt: Attempt,
  receipt: ChainReceipt,
): Promise<boolean> {
  const { transactionHash: txHash, blockNumber, blockHash } = receipt
  const place = { txHash, blockNumber, blockHash }
  const outcome = outcomeOf(attempt, receipt)
  const isDone = outcome === 'ok' ? doneIn(context, transaction, receipt.logs) : undefined
  const paidWei = await paidFor(context.node, receipt, attempt)
  const { valueWei } = transaction
  return close(context, transaction, { concluded: { outcome, paidWei, valueWei }, place, isDone, logs: receipt.logs })
}

type Closing = {
  readonly concluded: Concluded
  readonly place: PlaceOnChain
  readonly isDone?: ReturnType<typeof doneIn> | undefined
  readonly logs?: ChainReceipt['logs']
  readonly isProven?: (tx: Tx) => Promise<boolean>
}

const isOpen = ({ state }: Operation): boolean => openStates.includes(state)

/**
 * Closes a transaction whose nonce is used at finality, so that no other attempt can be mined. Returns false if it is not
 * proven, or another instance closed it or ended one of its operations first; then the next round looks again.
 */
async function close(
  context: Context,
  transaction: OpenTransaction,
  { concluded, place, isDone = () => false, logs = [], isProven }: Closing,
): Promise<boolean> {
  const { outcome, paidWei } = concluded
  failpoint('chain-relayer:final-before-commit')
  const carried = takeCarried(context, transaction)
  // Another instance may have counted a try of an operation since it was read, which matters if it waits again.
  const allDone = carried?.every(isDone) ? carried : undefined
  const sent = transaction.attempts.flatMap(({ hash }) => {
    const broadcasts = context.memory.sent.get(hash)
    return broadcasts ? [{ hash, ...broadcasts }] : []
  })
  let overBudget: readonly object[] = []
  const closing = context.database.transaction(async (tx) => {
    if (isProven && !(await isProven(tx))) return undefined
    const operations = allDone ?? (await findOperations(tx, transaction.operationIds))
    const booked = bookTransaction(transaction, concluded, operations)
    closeTransaction(tx, transaction, { outcome, ...place }, sent, booked)
    const judged = operations.map((operation) => {
      const position = transaction.operationIds.indexOf(operation.id)
      return { operation, done: isDone(operation, position) }
    })
    const undone = judged.flatMap((one) => (one.done ? [] : [one.operation]))
    if (outcome === 'ok' || outcome === 'reverted')
      chargeGas(tx, context, { transaction, carried: operations, wei: paidWei }, (spent) => {
        overBudget = spent
      })
    const done = judged.flatMap((one) => (one.done ? [one.operation] : []))
    await settleAll(tx, done.filter(isOpen), place, (operation) => repaidIn(transaction, operation, logs))
    const ended = await Promise.all(
      undone.map(async (operation) => {
        const oneTry = await runsForeignCode(context, operation)
        return { operation, end: await endUndone(tx, operation, { outcome, oneTry }) }
      }),
    )
    ended.push(...done.map((operation) => ({ operation, end: 'settled' as const })))
    return ended
  })
  const ended = await closing.catch((error) => {
    if (isTooLate(error)) return undefined
    throw error
  })
  failpoint('chain-relayer:final')
  for (const { hash } of transaction.attempts) context.memory.sent.delete(hash)
  if (!ended) return false
  context.memory.searchedAt.delete(nonceKey(transaction.lane, transaction.nonce))
  context.poke()
  for (const spent of overBudget) context.log.alarm({ ...spent }, 'wallet exceeded its daily gas budget')
  const sentAt = transaction.attempts[0]!.createdAt
  for (const { operation, end } of ended)
    withRequestId(operation.requestId ?? undefined, () =>
      report(context, operation, end, { txHash: place.txHash, sentAt }),
    )
  return true
}

/**
 * Returns the operations of a transaction if this process stored it. They are forgotten: if the transaction cannot be closed,
 * another instance may have ended one of them, so that the next try reads them.
 */
function takeCarried(
  { memory: { carried } }: Context,
  { lane, nonce, operationIds }: OpenTransaction,
): readonly Operation[] | undefined {
  const key = nonceKey(lane, nonce)
  const found = carried.get(key)
  carried.delete(key)
  // A nonce is given out again if the database was restored from a backup.
  return found?.map(({ id }) => id).join() === operationIds.join() ? found : undefined
}

function outcomeOf(attempt: Attempt, receipt: ChainReceipt): TransactionOutcome {
  if (attempt.purpose === 'noop') return 'noop'
  return receipt.status === 'success' ? 'ok' : 'reverted'
}

type Final = { outcome: TransactionOutcome; oneTry: boolean }

/**
 * Ends an operation that its final transaction did not execute. A drip waits, because Monad reverts transfers out of a
 * lane's reserve. The operation fails if user-controlled code made it revert, or if it reverted too often.
 */
async function endUndone(tx: Tx, operation: Operation, final: Final): Promise<Ending> {
  const tries = operation.tries + 1
  if (isHopeless(operation.kind, tries, { hasReverted: final.outcome === 'reverted', oneTry: final.oneTry })) {
    await fail(tx, operation, 'reverted')
    return 'failed'
  }
  const restMs = operation.kind === 'drip' ? dripRestMs : 0
  const notBefore = fromNow(restMs)
  await moveOperation(tx, operation.id, 'waiting', { tries, notBefore }, ['assigned'])
  return 'waiting'
}

const operations = timer({
  what: 'operation_final',
  help: 'Time from order to finality of an operation.',
  labels: { kind: { atMost: 15 }, outcome: ['settled', 'failed'] },
  buckets: flowSeconds,
})

/** Logs the end of an operation. Reverts that a wallet can cause raise no alert. */
function report(
  context: Context,
  operation: Operation,
  end: Ending,
  { txHash, sentAt }: { txHash: string; sentAt: Date },
) {
  const { id, kind, createdAt } = operation
  spanSince(`${kind} from order to final`, createdAt.getTime(), { 'operation.id': id, end })
  spanSince('transaction from first attempt to final', sentAt.getTime(), { 'tx.hash': txHash })
  const tookMs = Math.max(0, context.clock() - createdAt.getTime())
  if (end !== 'waiting') operations.seconds(tookMs / 1_000, { kind, outcome: end })
  const fields = { operationId: id, kind, txHash }
  if (end === 'settled') context.log.info(fields, 'operation settled')
  else if (end === 'waiting') context.log.warn(fields, 'operation reverted, will retry')
  else context.log[isUpToWallet(kind) ? 'warn' : 'alarm'](fields, 'operation reverted permanently')
}
