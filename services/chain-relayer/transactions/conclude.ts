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
import { noteBurnt } from './cover'
import { doneIn, runsForeignCode } from './transaction'

// Concluding finds the attempt that is final and ends its operations. It frees no nonce.

const concludeAtOnce = 8
/** A transaction this old whose nonce is used and that has no receipt calls a person. */
const missingMs = 60_000
const searchEveryMs = 10_000

/**
 * However much is found in blocks, each lane is counted so often: what they did not show is in
 * there.
 */
const countEveryMs = 3_000
/** More blocks than these are not read one by one: the lanes are counted instead. */
const blocksMax = 8

/**
 * Finds out which transactions are final, and concludes them. Unknown stays unknown. Mostly the
 * receipts of the blocks that became final since say it all, whatever the load. What they do not
 * show is found by counting a lane's transactions and asking for each receipt: what was open before
 * this process read blocks, what an endpoint left out, and what somebody else sent with the key.
 * Answers how many were looked at one by one; most of them are concluded.
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
 * What the lanes have in the blocks that became final since the last reading. Undefined when nobody
 * read before, too many came since, or an endpoint does not give them: then the lanes are counted.
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

/** The transaction with the attempt that one of these receipts is of. */
function foundIn(receipts: readonly Receipt[], transaction: OpenTransaction) {
  for (const attempt of transaction.attempts) {
    const receipt = receipts.find(({ transactionHash }) => transactionHash === attempt.hash)
    if (receipt) return [{ transaction, attempt, receipt }]
  }
  return []
}

/**
 * Concludes what of `open` has its nonce used, finally, each by its own receipt. Answers what
 * failed.
 */
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
  // Somebody else used the key: the lane is checked again before it gives out a nonce.
  if (count > nextNonce) memory.sound.delete(address)
  const mined = open.filter(({ nonce }) => nonce < count)
  const concludeThis = (transaction: OpenTransaction) => concludeOne(context, transaction, head)
  // One that cannot be concluded now stops no other of its lane.
  const tried = await pMapSettled(mined, concludeThis, { concurrency: concludeAtOnce })
  // What has no receipt yet is asked for again in the next round.
  const isWhole = tried.every((one) => one.status === 'fulfilled' && one.value)
  if (isWhole) memory.countedAt.set(address, { epoch, at })
  return rejectionsOf(tried)
}

const rejectionsOf = (tried: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  tried.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))

/** True when it is concluded. */
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

/**
 * Who else used the nonce, searched for now and then: it takes many calls. Unknown is undefined.
 */
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
 * The receipt of whichever attempt was mined. Final only when its block is at or below the
 * finalized one and still has the same hash when read again: receipts of unfinalized blocks can
 * vanish.
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

/** How long a drip that reverted rests; the lane has to be filled meanwhile. */
const dripRestMs = 15_000

/** What finality means for one operation of a transaction. */
type Ending = 'settled' | 'failed' | 'waiting'

/** Stores that a transaction is final and what became of its operations, and announces it. */
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

/** Whatever took the nonce is final: none of the other attempts can ever be mined. */
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
    const hasReverted = outcome === 'ok' || outcome === 'reverted'
    const spentBy = hasReverted
      ? await noteBurnt(tx, context, { transaction, reverted: undone, wei: paidWei })
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
 * It is final that this transaction did not do it, so it waits, to be examined again
 * before it is sent again; a drip a while, because Monad reverts what takes from a lane's reserve.
 * What code of a user's made revert has failed: it would again.
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
  help: 'From an order, or a send, to its end at the final chain.',
  labels: { kind: { atMost: 15 }, outcome: ['settled', 'failed'] },
  buckets: flowSeconds,
})

/** What a wallet can make revert calls nobody, until its budget of gas is burnt. */
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
