import type { Tx } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import type { Place } from '../chain/authorization'
import { doubtsMax } from '../chain/errors'
import type { Head, Node, Receipt } from '../chain/node'
import { type Context, logThrottled } from '../context'
import {
  type Attempt,
  closeTransaction,
  type OpenTransaction,
  type TransactionOutcome,
} from '../lanes/lane.store'
import type { HeldLane } from '../lanes/lease'
import { guards } from '../operations/operation'
import { findOperations, moveOperation, type Operation } from '../operations/operation.store'
import { fail, settle } from '../operations/outcome'
import { inParallel } from '../parallel'
import { failuresOf } from './batch'

const askAtOnce = 8
/** A transaction this old whose nonce is used and that has no receipt calls a person. */
const missingMs = 60_000

/**
 * Finds out, for all lanes at once, which transactions are final, and concludes them. Unknown stays
 * unknown.
 */
export async function concludeFinal(context: Context, held: readonly HeldLane[]): Promise<void> {
  const busy = held.filter(({ open }) => open.length > 0)
  if (busy.length === 0) return
  const head = await context.node.finalizedHead()
  for (const { lane, open } of busy) {
    const count = await context.node.countAt(lane.address, 'finalized')
    // Somebody else used the key: the lane is checked again before it gives out a nonce.
    if (count > lane.nextNonce) context.memory.soundEpochs.delete(lane.address)
    const mined = open.filter(({ nonce }) => nonce < count)
    await inParallel(mined, askAtOnce, (transaction) => concludeOne(context, transaction, head))
  }
}

async function concludeOne(
  context: Context,
  transaction: OpenTransaction,
  head: Head,
): Promise<void> {
  const found = await finalReceipt(context.node, transaction.attempts, head).catch((error) => {
    logThrottled(context, 'receipts', { err: error }, 'receipts could not be read')
    return undefined
  })
  if (found) return conclude(context, transaction, found.attempt, found.receipt)
  const { lane, nonce, createdAt } = transaction
  if (context.clock() - createdAt.getTime() < missingMs) return
  const fields = { lane, nonce, alarm: true }
  logThrottled(context, `missing:${lane}:${nonce}`, fields, 'nonce is used but no receipt is found')
}

/**
 * The receipt of whichever attempt was mined. Final only when its block is at or below the finalized
 * one and still has the same hash when read again: receipts of unfinalized blocks can vanish.
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
  const failures =
    outcome === 'ok' ? failuresOf(receipt.logs, context.contracts.creditLine) : undefined
  failpoint('relayer:final-before-commit')
  const ends = await context.database.transaction(async (tx) => {
    if (!(await closeTransaction(tx, transaction, { outcome, ...place }))) return undefined
    const operations = await findOperations(tx, transaction.operationIds)
    return Promise.all(
      operations.map(async (operation) => {
        const position = transaction.operationIds.indexOf(operation.id)
        const done = outcome === 'ok' && !failures?.has(position)
        return { operation, end: await end(tx, operation, outcome, done ? place : undefined) }
      }),
    )
  })
  failpoint('relayer:final')
  for (const { hash } of transaction.attempts) context.memory.sent.delete(hash)
  if (!ends) return
  context.poke()
  for (const { operation, end } of ends) report(context, operation, end, txHash)
}

function outcomeOf(attempt: Attempt, receipt: Receipt): TransactionOutcome {
  if (attempt.purpose === 'noop') return 'noop'
  return receipt.status === 'success' ? 'ok' : 'reverted'
}

/**
 * Without a place it is final that this transaction did not do it. What the chain guards waits, to be
 * examined again before it is sent again; a drip that reverted has failed.
 */
async function end(
  tx: Tx,
  operation: Operation,
  outcome: TransactionOutcome,
  place: Place | undefined,
): Promise<Ending> {
  if (place) {
    await settle(tx, operation, place)
    return 'settled'
  }
  const tries = operation.tries + 1
  const hopeless = guards[operation.kind] === 'none' ? outcome === 'reverted' : tries > doubtsMax
  if (hopeless) {
    await fail(tx, operation, 'reverted')
    return 'failed'
  }
  await moveOperation(tx, operation.id, 'waiting', { tries, notBefore: new Date() }, ['assigned'])
  return 'waiting'
}

function report(context: Context, { id, kind }: Operation, end: Ending, txHash: string) {
  const fields = { operationId: id, kind, txHash }
  if (end === 'settled') context.log.info(fields, 'operation settled')
  else if (end === 'waiting') context.log.warn(fields, 'operation reverted, examined again')
  else context.log.error({ ...fields, alarm: true }, 'operation reverted for good')
}
