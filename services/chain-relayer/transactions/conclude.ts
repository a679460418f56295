import { pMapSettled } from 'p-map'
import { fromNow } from '#shared/db/columns'
import type { Tx } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import { flowSeconds, timer } from '#shared/metrics/measures'
import { withRequestId } from '#shared/request-id'
import { spanSince } from '#shared/tracing/spans'
import { bookTransaction } from '../books/book'
import type { Concluded } from '../books/position'
import type { Place } from '../chain/authorization'
import { doubtsMax } from '../chain/errors'
import { isRecent, lookAt } from '../chain/look'
import type { Head, Node, Receipt } from '../chain/node'
import { findNonceUse } from '../chain/nonce'
import type { Context } from '../context'
import {
  type Attempt,
  closeTransaction,
  type OpenTransaction,
  type TransactionOutcome,
} from '../lanes/lane.store'
import { addressesOf, type HeldLane } from '../lanes/lease'
import { isUpToWallet } from '../operations/operation'
import { findOperations, moveOperation, type Operation } from '../operations/operation.store'
import { fail, settleAll } from '../operations/order'
import { costOf, paidFor } from './cost'
import { chargeGas } from './cover'
import { doneIn, runsForeignCode } from './transaction'

// Concluding finds the final attempt of a transaction and ends its operations. It frees no nonce.

const concludeAtOnce = 8
/** Alarm for a transaction of this age whose nonce is used but which has no receipt. */
const missingMs = 60_000
const searchEveryMs = 10_000

/** Interval for counting a lane's nonces, which finds transactions that the blocks did not show. */
const countEveryMs = 3_000
/** Maximum blocks read one by one; beyond that the lanes' nonces are counted instead. */
const blocksMax = 8

/**
 * Finds and concludes final transactions; those without proof stay open. Usually the receipts of
 * the newly final blocks suffice, at constant cost. The rest is found by counting a lane's nonces
 * and requesting each receipt: transactions opened before this process read blocks, receipts
 * omitted by an endpoint, and transactions sent by another holder of the key. Returns the number of
 * transactions checked, most of which are concluded.
 */
export async function concludeFinal(context: Context, held: readonly HeldLane[]): Promise<number> {
  const { memory, clock } = context
  const busy = held.filter(({ open }) => open.length > 0)
  if (busy.length === 0) {
    memory.readTo = undefined
    return 0
  }
  const { finalized: head } = await lookAt(context, addressesOf(held))
  const receipts = await receiptsSince(context, busy, head)
  const failures: unknown[] = []
  let looked = 0
  for (const { lane, open } of busy) {
    const own = receipts?.filter(({ from }) => from.toLowerCase() === lane.address) ?? []
    const found = open.flatMap((transaction) => foundIn(own, transaction))
    const tried = await pMapSettled(
      found,
      ({ transaction, attempt, receipt }) => conclude(context, transaction, attempt, receipt),
      { concurrency: concludeAtOnce },
    )
    failures.push(...rejectionsOf(tried))
    looked += found.length
    const counted = memory.countedAt.get(lane.address)
    const isCounted = counted?.epoch === lane.epoch && isRecent(counted.at, clock(), countEveryMs)
    if (receipts && own.length === found.length && isCounted) continue
    const rest = open.filter((one) => found.every(({ transaction }) => transaction !== one))
    looked += rest.length
    const counting = concludeCounted(context, lane, rest, head)
    failures.push(...(await counting.catch((error) => [error])))
  }
  memory.readTo = head.number
  if (failures.length > 0) throw failures[0]
  return looked
}

/**
 * Returns the lanes' receipts in the blocks that became final since the last read. Returns
 * undefined at the first read, after too many blocks, or if the endpoint does not return them.
 */
async function receiptsSince(
  { node, memory, logThrottled }: Context,
  busy: readonly HeldLane[],
  head: Head,
): Promise<Receipt[] | undefined> {
  const { readTo } = memory
  if (readTo === undefined || head.number - readTo > blocksMax) return undefined
  const senders = new Set(addressesOf(busy))
  const numbers = Array.from(
    { length: Number(head.number - readTo) },
    (_, at) => readTo + 1n + BigInt(at),
  )
  try {
    const read = await Promise.all(
      numbers.map(async (number) =>
        node.receiptsIn(number === head.number ? head : await node.headAt(number), senders),
      ),
    )
    return read.flat()
  } catch (error) {
    logThrottled('blocks', { err: error }, 'block receipts read failed')
    return undefined
  }
}

/** Returns the transaction with its mined attempt, if one of these receipts belongs to it. */
function foundIn(receipts: readonly Receipt[], transaction: OpenTransaction) {
  for (const attempt of transaction.attempts) {
    const receipt = receipts.find(({ transactionHash }) => transactionHash === attempt.hash)
    if (receipt) return [{ transaction, attempt, receipt }]
  }
  return []
}

/** Concludes open transactions whose nonce is used at finality, by receipt; returns the errors. */
async function concludeCounted(
  context: Context,
  { address, nextNonce, epoch }: HeldLane['lane'],
  open: readonly OpenTransaction[],
  head: Head,
): Promise<unknown[]> {
  const { memory, node, clock } = context
  const at = clock()
  memory.countedAt.delete(address)
  const count = await node.countAt(address, head.number)
  // Another sender used the key: check the lane again before it assigns a nonce.
  if (count > nextNonce) memory.sound.delete(address)
  const mined = open.filter(({ nonce }) => nonce < count)
  const concludeThis = (transaction: OpenTransaction) => concludeOne(context, transaction, head)
  // A transaction that cannot be concluded now does not stop the others of its lane.
  const tried = await pMapSettled(mined, concludeThis, { concurrency: concludeAtOnce })
  // Transactions without a receipt are requested again in the next round.
  const isWhole = tried.every((one) => one.status === 'fulfilled' && one.value)
  if (isWhole) memory.countedAt.set(address, { epoch, at })
  return rejectionsOf(tried)
}

const rejectionsOf = (tried: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  tried.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))

/** Returns true if the transaction was concluded. */
async function concludeOne(
  context: Context,
  transaction: OpenTransaction,
  head: Head,
): Promise<boolean> {
  const found = await finalReceipt(context.node, transaction.attempts, head).catch((error) => {
    context.logThrottled('receipts', { err: error }, 'receipt lookup failed, will retry')
    return undefined
  })
  if (found) {
    await conclude(context, transaction, found.attempt, found.receipt)
    return true
  }
  const { lane, nonce, createdAt } = transaction
  if (context.clock() - createdAt.getTime() < missingMs) return false
  const fields = { lane, nonce, alarm: true }
  const use = await searchUse(context, transaction, head)
  if (!use) {
    const key = `missing:${lane}:${nonce}`
    context.logThrottled(key, fields, 'nonce used but no receipt found')
    return false
  }
  const { place, cost } = use
  context.log.error({ ...fields, txHash: place.txHash }, 'lane key used by another sender')
  await close(context, transaction, { outcome: 'foreign', ...cost }, place)
  return true
}

/** Searches, at intervals as it takes many calls, for a foreign transaction that used the nonce. */
async function searchUse(
  { node, memory, clock, log }: Context,
  { lane, nonce, attempts }: OpenTransaction,
  head: Head,
) {
  const key = `${lane}:${nonce}`
  if (clock() - (memory.searchedAt.get(key) ?? 0) < searchEveryMs) return undefined
  memory.searchedAt.set(key, clock())
  try {
    const place = await findNonceUse(node, lane, nonce, head)
    if (!place || attempts.some(({ hash }) => hash === place.txHash)) return undefined
    const cost = await costOf(node, lane, place)
    return cost && { place, cost }
  } catch (error) {
    log.warn({ err: error, lane, nonce }, 'could not look up which transaction used the nonce')
    return undefined
  }
}

/**
 * Returns the mined attempt and its receipt. It is final only if its block is at or below the
 * finalized one and still has the same hash when read again: other receipts can disappear.
 */
async function finalReceipt(
  node: Pick<Node, 'receiptOf' | 'headAt'>,
  attempts: readonly Attempt[],
  head: Head,
): Promise<{ attempt: Attempt; receipt: Receipt } | undefined> {
  for (const attempt of attempts.toReversed()) {
    const receipt = await node.receiptOf(attempt.hash)
    if (!receipt || receipt.blockNumber > head.number) continue
    const block = await node.headAt(receipt.blockNumber)
    if (block.hash === receipt.blockHash) return { attempt, receipt }
  }
  return undefined
}

/** Retry delay of a reverted drip, during which the lane has to be funded. */
const dripRestMs = 15_000

/** State of an operation after its transaction became final. */
type Ending = 'settled' | 'failed' | 'waiting'

/** Closes a final transaction and ends and announces its operations. */
async function conclude(
  context: Context,
  transaction: OpenTransaction,
  attempt: Attempt,
  receipt: Receipt,
): Promise<void> {
  const { transactionHash: txHash, blockNumber, blockHash } = receipt
  const place = { txHash, blockNumber, blockHash }
  const outcome = outcomeOf(attempt, receipt)
  const isDone = outcome === 'ok' ? doneIn(context, transaction, receipt.logs) : undefined
  const paidWei = await paidFor(context.node, receipt, attempt)
  const { valueWei } = transaction
  await close(context, transaction, { outcome, paidWei, valueWei }, place, isDone)
}

/** Closes a transaction whose nonce is used at finality: no other attempt can be mined. */
async function close(
  context: Context,
  transaction: OpenTransaction,
  concluded: Concluded,
  place: Place,
  isDone: ReturnType<typeof doneIn> = () => false,
): Promise<void> {
  const { outcome, paidWei } = concluded
  failpoint('chain-relayer:final-before-commit')
  const closed = await context.database.transaction(async (tx) => {
    const operations = await findOperations(tx, transaction.operationIds)
    const booked = bookTransaction(transaction, concluded, operations)
    if (!(await closeTransaction(tx, transaction, { outcome, ...place }, booked))) return undefined
    const judged = operations.map((operation) => {
      const position = transaction.operationIds.indexOf(operation.id)
      return { operation, done: isDone(operation, position) }
    })
    const undone = judged.flatMap((one) => (one.done ? [] : [one.operation]))
    const isCharged = outcome === 'ok' || outcome === 'reverted'
    const spentBy = isCharged
      ? await chargeGas(tx, context, { transaction, carried: operations, wei: paidWei })
      : []
    const done = judged.flatMap((one) => (one.done ? [one.operation] : []))
    await settleAll(tx, done, place)
    const ended = await Promise.all(
      undone.map(async (operation) => {
        const oneTry = await runsForeignCode(context, operation)
        return { operation, end: await endUndone(tx, operation, { outcome, oneTry }) }
      }),
    )
    ended.push(...done.map((operation) => ({ operation, end: 'settled' as const })))
    return { ended, spentBy }
  })
  failpoint('chain-relayer:final')
  for (const { hash } of transaction.attempts) context.memory.sent.delete(hash)
  if (!closed) return
  context.poke()
  for (const spent of closed.spentBy)
    context.log.error({ ...spent, alarm: true }, 'wallet exceeded its daily gas budget')
  const sentAt = transaction.attempts[0]!.createdAt
  for (const { operation, end } of closed.ended)
    withRequestId(operation.requestId ?? undefined, () =>
      report(context, operation, end, { txHash: place.txHash, sentAt }),
    )
}

function outcomeOf(attempt: Attempt, receipt: Receipt): TransactionOutcome {
  if (attempt.purpose === 'noop') return 'noop'
  return receipt.status === 'success' ? 'ok' : 'reverted'
}

type Final = { outcome: TransactionOutcome; oneTry: boolean }

/**
 * Handles an operation that its final transaction did not execute: it waits to be examined again. A
 * drip waits longer, because Monad reverts transfers out of a lane's reserve. The operation fails
 * if user-controlled code made it revert, or if it reverted too often.
 */
async function endUndone(
  tx: Tx,
  operation: Operation,
  { outcome, oneTry }: Final,
): Promise<Ending> {
  const tries = operation.tries + 1
  const hopeless = oneTry ? outcome === 'reverted' : tries > doubtsMax
  if (hopeless) {
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

/** Logs and measures an ended operation. Reverts that a wallet can cause raise no alarm. */
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
  else if (isUpToWallet(kind)) context.log.warn(fields, 'operation reverted permanently')
  else context.log.error({ ...fields, alarm: true }, 'operation reverted permanently')
}
