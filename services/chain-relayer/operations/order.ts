import { type Reaction, reactTo } from '#platform/bus/reaction'
import { Malformed } from '#platform/bus/verdict'
import { fromNow } from '#platform/db/columns'
import type { Tx } from '#platform/db/open'
import { announceAll, announcement } from '#platform/db/outbox.store'
import { messageIdFor } from '#shared/ids'
import * as relay from '#shared/messages/relay'
import type { Message, Topic } from '#shared/messages/topic'
import type { PlaceOnChain } from '../chain/authorization'
import type { Context } from '../context'
import { bookOperation } from '../ledger/book'
import { outbox } from '../schema.store'
import { mayHappenLate, type OperationState, type Order, openStates, orderOf, type Task } from './operation'
import {
  countRepeat,
  findOperation,
  insertOperation,
  insertOperationAhead,
  moveOperation,
  moveOperationsAhead,
} from './operation.store'
import type { Operation } from './operation.table'
import { failIfGivenBack, isGivenBack, lockWallet } from './wallet.store'

// Outcomes are announced in the commit that ends the operation, and again for each repeat of the command.

export const orderReactions: readonly Reaction[] = [
  ordered(relay.CreditOrdered, (payload) => ({ kind: 'credit', payload })),
  ordered(relay.RepayOrdered, (payload) => ({ kind: 'repay', payload })),
  ordered(relay.RevokeOrdered, (payload) => ({ kind: 'revoke', payload })),
  ordered(relay.ExtendOrdered, (payload) => ({ kind: 'extend', payload })),
  ordered(relay.VerifyOrdered, (payload) => ({ kind: 'verify', payload })),
  ordered(relay.FreezeOrdered, (payload) => ({ kind: 'freeze', payload })),
  ordered(relay.DripOrdered, (payload) => ({ kind: 'drip', payload })),
  ordered(relay.TakeOrdered, (payload) => ({ kind: 'take', payload })),
  ordered(relay.ReturnOrdered, (payload) => ({ kind: 'return', payload })),
  ordered(relay.AutorepayOrdered, (payload) => ({ kind: 'autorepay', payload })),
]

function ordered<T extends Topic>(topic: T, taskOf: (message: Message<T>) => Task): Reaction {
  return reactTo<T>(topic, {
    apply: (tx, message) => accept(tx, orderOf(taskOf(message))),
    applyNew: (tx, message) => acceptNew(tx, orderOf(taskOf(message))),
    again: async (tx, message) => {
      const order = orderOf(taskOf(message))
      const known = await findOperation(tx, order.id)
      // An order with other content was dead-lettered when it first arrived.
      if (known?.contentHash === order.contentHash) await repeatOutcome(tx, known)
    },
  })
}

/** Makes an erasure wait, and keeps AUSD that is being given back from being paid out as well. */
const lockOf = (tx: Tx, { wallet }: Order): void =>
  // guard: a take waits for a giveback of its wallet that is being stored
  lockWallet(tx, wallet)

/**
 * Stores the operation of an order together with the commit, which fails (`isTooLate`) if it is stored already, or if its AUSD is
 * that of another operation.
 */
function acceptNew(tx: Tx, order: Order): void {
  lockOf(tx, order)
  // guard: AUSD returned to its sender does not also pay a cash-out
  if (order.kind === 'take') failIfGivenBack(tx, order)
  insertOperationAhead(tx, order)
}

/**
 * Stores the operation of an order. Throws `Malformed` (a dead letter) if the same cause was ordered with other
 * content.
 */
async function accept(tx: Tx, order: Order): Promise<void> {
  lockOf(tx, order)
  // guard: AUSD returned to its sender does not also pay a cash-out
  const isLost = order.kind === 'take' && (await isGivenBack(tx, order))
  if (!isLost && (await insertOperation(tx, order))) return
  const known = await findOperation(tx, order.id)
  if (known) return recognise(tx, order, known)
  // One authorization moves money once, so it must not fund a second payout.
  const reason = isLost ? 'given_back' : 'authorization_conflict'
  const withoutNonce = { ...order, authorizationNonce: null }
  if (await insertOperation(tx, withoutNonce, { state: 'failed', reason })) await announceFailure(tx, order, reason)
}

async function recognise(tx: Tx, order: Order, known: Operation): Promise<void> {
  // guard: an order with different content is no repeat
  if (known.contentHash !== order.contentHash)
    throw new Malformed(`relay.${order.kind} ${order.cause} was already ordered with other content`)
  await repeatOutcome(tx, known)
}

type Ended = Pick<Operation, 'id' | 'kind' | 'cause' | 'wallet'> & {
  readonly requestId?: string | null
}
type Where = Pick<PlaceOnChain, 'txHash' | 'blockNumber'>

/**
 * Settles an operation that a third party executed, or that needs no transaction (`place` is null).
 * Returns false if it no longer waits.
 */
export const settle = async (tx: Tx, operation: Operation, place: PlaceOnChain | null): Promise<boolean> => {
  // guard: an examined operation is ended only if it is still waiting
  if (!(await moveOperation(tx, operation.id, 'settled', { ...place, reason: null }, ['waiting']))) return false
  await tellSettled(tx, [operation], place)
  return true
}

/** Returns what an automatic repayment took; undefined for other operations. */
type RepaidBy = (operation: Operation) => relay.Repaid | undefined

/** Settles open operations at finality. The transaction fails (`isTooLate`) if another one ends one of them first. */
export async function settleAll(
  tx: Tx,
  operations: readonly Operation[],
  place: PlaceOnChain,
  repaidBy: RepaidBy,
): Promise<void> {
  if (operations.length === 0) return
  const ids = operations.map(({ id }) => id)
  moveOperationsAhead(tx, ids, 'settled', { ...place, reason: null }, openStates)
  await tellSettled(tx, operations, place, repaidBy)
}

async function tellSettled(
  tx: Tx,
  operations: readonly Operation[],
  place: PlaceOnChain | null,
  repaidBy: RepaidBy = () => undefined,
): Promise<void> {
  announceAll(
    tx,
    outbox,
    operations.map((operation) => settledOf(operation, place, { repaid: repaidBy(operation) })),
  )
  await Promise.all(operations.map((operation) => bookOperation(tx, operation)))
}

/**
 * Settles a failed operation whose authorization a third party used; the reason stays. Returns
 * false if it was already settled.
 */
export async function settleLate(tx: Tx, operation: Ended, place: PlaceOnChain): Promise<boolean> {
  const set = { ...place, watchAt: null }
  if (!(await moveOperation(tx, operation.id, 'settled', set, ['failed']))) return false
  announceSettled(tx, operation, place)
  return true
}

/** Fails an operation. Returns false if it had left the states `from`. */
export async function fail(
  tx: Tx,
  operation: Ended & Pick<Operation, 'authorizationNonce' | 'tries'>,
  reason: string,
  from: readonly OperationState[] = openStates,
): Promise<boolean> {
  const watchAt = mayHappenLate(operation, reason) ? fromNow(0) : null
  if (!(await moveOperation(tx, operation.id, 'failed', { reason, watchAt }, from))) return false
  announceFailure(tx, operation, reason)
  return true
}

/** Fails an operation, or does nothing if another instance assigned it first. */
export async function giveUp(
  context: Pick<Context, 'database' | 'log' | 'poke'>,
  operation: Operation,
  reason: string,
  alarm: boolean,
) {
  const failed = await context.database.transaction((tx) =>
    // guard: an operation is given up only if it is still waiting
    fail(tx, operation, reason, ['waiting']),
  )
  if (!failed) return
  const fields = { operationId: operation.id, kind: operation.kind, reason }
  context.log[alarm ? 'alarm' : 'info'](fields, 'operation failed')
  context.poke()
}

const announceSettled = (tx: Tx, operation: Ended, where: Where | null, repeat = 0) =>
  announceAll(tx, outbox, [settledOf(operation, where, { repeat })])

type Announced = { readonly repeat?: number; readonly repaid?: relay.Repaid | undefined }

const settledOf = (
  { id, kind, cause, wallet, requestId = null }: Ended,
  where: Where | null,
  { repeat = 0, repaid }: Announced,
) => {
  const topic = relay.relaySettled(kind)
  const message = announcement(topic, messageIdFor(topic, cause, repeat), {
    operationId: id,
    cause,
    wallet,
    txHash: where?.txHash ?? null,
    blockNumber: where ? String(where.blockNumber) : null,
    ...(repaid && { repaid }),
  })
  return { ...message, requestId }
}

const announceFailure = (tx: Tx, { id, kind, cause, wallet, requestId = null }: Ended, reason: string, repeat = 0) => {
  const topic = relay.relayFailed(kind)
  const payload = { operationId: id, cause, wallet, reason }
  const message = announcement(topic, messageIdFor(topic, cause, repeat), payload)
  announceAll(tx, outbox, [{ ...message, requestId }])
}

async function repeatOutcome(tx: Tx, { id }: Operation): Promise<void> {
  const ended = await countRepeat(tx, id)
  if (!ended) return
  const { state, reason, txHash, blockNumber, repeats } = ended
  if (state === 'failed') return announceFailure(tx, ended, reason ?? 'reverted', repeats)
  const where = txHash && blockNumber !== null ? { txHash, blockNumber } : null
  announceSettled(tx, ended, where, repeats)
}
