import type { Tx } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import { failuresOf } from './batch'
import type { Receipt } from './node'
import { guards } from './operation'
import { findOperations, moveOperation, type Operation } from './operation.store'
import { fail, type Place, settle } from './outcome.store'
import type { Relayer } from './relayer'
import { doubtsMax } from './reverts'
import type { TransactionOutcome } from './transaction'
import { type Attempt, closeTransaction, type OpenTransaction } from './transaction.store'

/** What finality means for one operation of a transaction. */
type Ending = 'settled' | 'failed' | 'waiting'

/** Writes down a final transaction, what became of its operations, and tells everybody. */
export async function conclude(
  relayer: Relayer,
  transaction: OpenTransaction,
  attempt: Attempt,
  receipt: Receipt,
): Promise<void> {
  const { transactionHash: txHash, blockNumber, blockHash } = receipt
  const place = { txHash, blockNumber, blockHash }
  const outcome = outcomeOf(attempt, receipt)
  const failures =
    outcome === 'ok' ? failuresOf(receipt.logs, relayer.contracts.creditLine) : undefined
  failpoint('relayer:final-before-commit')
  const ends = await relayer.database.transaction(async (tx) => {
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
  for (const { hash } of transaction.attempts) relayer.memory.sent.delete(hash)
  if (!ends) return
  relayer.poke()
  for (const { operation, end } of ends) report(relayer, operation, end, txHash)
}

function outcomeOf(attempt: Attempt, receipt: Receipt): TransactionOutcome {
  if (attempt.purpose === 'noop') return 'noop'
  return receipt.status === 'success' ? 'ok' : 'reverted'
}

/**
 * Without a place it was finally not done by this transaction. What the chain guards waits again, to
 * be looked at more closely before the next one; a drip that reverted has failed.
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

function report(relayer: Relayer, { id, kind }: Operation, end: Ending, txHash: string) {
  const fields = { operationId: id, kind, txHash }
  if (end === 'settled') relayer.log.info(fields, 'operation settled')
  else if (end === 'waiting') relayer.log.warn(fields, 'operation reverted, looked at again')
  else relayer.log.error({ ...fields, alarm: true }, 'operation reverted for good')
}
