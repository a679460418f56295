import { type Reaction, reactTo } from '#shared/bus/reaction'
import { Malformed } from '#shared/bus/verdict'
import { fromNow } from '#shared/db/columns'
import type { Tx } from '#shared/db/open'
import { announceAll, announcement } from '#shared/db/outbox.store'
import { messageIdFor } from '#shared/ids'
import * as relay from '#shared/messages/relay'
import type { Message, Topic } from '#shared/messages/topic'
import { bookOperation } from '../books/book'
import type { Place } from '../chain/authorization'
import type { Context } from '../context'
import { outbox } from '../schema.store'
import { mayHappenLate, type OperationState, type Order, orderOf, type Task } from './operation'
import {
  countRepeat,
  findOperation,
  insertOperation,
  moveOperation,
  moveOperations,
  type Operation,
} from './operation.store'
import { isGivenBack, lockWallet } from './wallet.store'

// An order comes in as a command and becomes one operation; what became of it goes out, in the commit
// that ends the operation, and once more for each repeat of the command.

/** Every command becomes one operation. Nothing here asks the chain: the rounds do that. */
export const reactions: readonly Reaction[] = [
  ordered(relay.CreditOrdered, (payload) => ({ kind: 'credit', payload })),
  ordered(relay.RepayOrdered, (payload) => ({ kind: 'repay', payload })),
  ordered(relay.RevokeOrdered, (payload) => ({ kind: 'revoke', payload })),
  ordered(relay.ExtendOrdered, (payload) => ({ kind: 'extend', payload })),
  ordered(relay.VerifyOrdered, (payload) => ({ kind: 'verify', payload })),
  ordered(relay.FreezeOrdered, (payload) => ({ kind: 'freeze', payload })),
  ordered(relay.DripOrdered, (payload) => ({ kind: 'drip', payload })),
  ordered(relay.TakeOrdered, (payload) => ({ kind: 'take', payload })),
  ordered(relay.ReturnOrdered, (payload) => ({ kind: 'return', payload })),
]

function ordered<T extends Topic>(topic: T, taskOf: (message: Message<T>) => Task): Reaction {
  return reactTo(topic, {
    apply: (tx, message) => accept(tx, orderOf(taskOf(message))),
    again: async (tx, message) => {
      const order = orderOf(taskOf(message))
      const known = await findOperation(tx, order.id)
      // Other content went to the dead letters when it first came.
      if (known?.contentHash === order.contentHash) await repeatOutcome(tx, known)
    },
  })
}

/**
 * Stores the operation, or recognises it and announces its outcome again. Throws `Malformed` when
 * the same cause ordered something else before: nothing is done, and a person has to decide.
 */
async function accept(tx: Tx, order: Order): Promise<void> {
  // What a take was to move, and goes back already, must pay no bank.
  if (order.kind === 'take') await lockWallet(tx, order.wallet)
  const isLost = order.kind === 'take' && (await isGivenBack(tx, order))
  if (!isLost && (await insertOperation(tx, order))) return
  const known = await findOperation(tx, order.id)
  if (known) return recognise(tx, order, known)
  // One authorization moves money once: a second payout must not be paid out of it.
  const reason = isLost ? 'given_back' : 'authorization_conflict'
  const withoutNonce = { ...order, authorizationNonce: null }
  if (await insertOperation(tx, withoutNonce, { state: 'failed', reason }))
    await announceFailure(tx, order, reason)
}

async function recognise(tx: Tx, order: Order, known: Operation): Promise<void> {
  if (known.contentHash !== order.contentHash)
    throw new Malformed(`relay.${order.kind} ${order.cause} was ordered with other content before`)
  await repeatOutcome(tx, known)
}

type Ended = Pick<Operation, 'id' | 'kind' | 'cause' | 'wallet'> & {
  readonly requestId?: string | null
}
type Where = Pick<Place, 'txHash' | 'blockNumber'>

/**
 * Done, finally, by somebody else, or nothing has to be sent: then there is no place. Announced in the
 * same commit. False: it had ended before, or a transaction carries it by now, and that says what comes of it.
 */
export const settle = async (tx: Tx, operation: Operation, place: Place | null): Promise<boolean> =>
  (await settleFrom(tx, [operation], place, ['waiting'])).length === 1

/** Done by a transaction of ours that is final: of several those that had not ended before. */
export const settleAll = (
  tx: Tx,
  operations: readonly Operation[],
  place: Place,
): Promise<Operation[]> => settleFrom(tx, operations, place, ['waiting', 'assigned'])

async function settleFrom(
  tx: Tx,
  operations: readonly Operation[],
  place: Place | null,
  from: readonly OperationState[],
): Promise<Operation[]> {
  if (operations.length === 0) return []
  const ids = operations.map(({ id }) => id)
  const set = { ...place, reason: null }
  const moved = await moveOperations(tx, ids, 'settled', set, from)
  const settled = operations.filter(({ id }) => moved.has(id))
  await Promise.all([
    ...settled.map((operation) => bookOperation(tx, operation)),
    announceAll(
      tx,
      outbox,
      settled.map((operation) => settledOf(operation, place)),
    ),
  ])
  return settled
}

/**
 * It had failed, was announced so, and happened all the same: somebody else used the authorization.
 * The reason of the failure stays on the row. False: it is settled already.
 */
export async function settleLate(tx: Tx, operation: Ended, place: Place): Promise<boolean> {
  const set = { ...place, watchAt: null }
  if (!(await moveOperation(tx, operation.id, 'settled', set, ['failed']))) return false
  await announceSettled(tx, operation, place)
  return true
}

/**
 * Not done, not to be done by us, and announced in the same commit. `from`: what it may be in. False: it
 * was in none of that any more.
 */
export async function fail(
  tx: Tx,
  operation: Ended & Pick<Operation, 'authorizationNonce'>,
  reason: string,
  from: readonly OperationState[] = ['waiting', 'assigned'],
): Promise<boolean> {
  const watchAt = mayHappenLate(operation, reason) ? fromNow(0) : null
  if (!(await moveOperation(tx, operation.id, 'failed', { reason, watchAt }, from))) return false
  await announceFailure(tx, operation, reason)
  return true
}

/** Ends an operation that no transaction carries: another copy may have sent it since it was examined. */
export async function giveUp(
  context: Context,
  operation: Operation,
  reason: string,
  alarm: boolean,
) {
  const failed = await context.database.transaction((tx) =>
    fail(tx, operation, reason, ['waiting']),
  )
  if (!failed) return
  const fields = { operationId: operation.id, kind: operation.kind, reason, alarm }
  context.log[alarm ? 'error' : 'info'](fields, 'operation failed')
  context.poke()
}

const announceSettled = (tx: Tx, operation: Ended, where: Where | null, repeat = 0) =>
  announceAll(tx, outbox, [settledOf(operation, where, repeat)])

const settledOf = (
  { id, kind, cause, wallet, requestId = null }: Ended,
  where: Where | null,
  repeat = 0,
) => {
  const topic = relay.relaySettled(kind)
  const message = announcement(topic, messageIdFor(topic, cause, repeat), {
    operationId: id,
    cause,
    wallet,
    txHash: where?.txHash ?? null,
    blockNumber: where ? String(where.blockNumber) : null,
  })
  return { ...message, requestId }
}

/** Announces a failure; also of an order that never became an operation of its own. */
const announceFailure = (
  tx: Tx,
  { id, kind, cause, wallet, requestId = null }: Ended,
  reason: string,
  repeat = 0,
) => {
  const topic = relay.relayFailed(kind)
  const payload = { operationId: id, cause, wallet, reason }
  const message = announcement(topic, messageIdFor(topic, cause, repeat), payload)
  return announceAll(tx, outbox, [{ ...message, requestId }])
}

/** Announces the outcome again, for somebody who repeats a command because they missed it. */
async function repeatOutcome(tx: Tx, { id }: Operation): Promise<void> {
  const ended = await countRepeat(tx, id)
  if (!ended) return
  const { state, reason, txHash, blockNumber, repeats } = ended
  if (state === 'failed') return announceFailure(tx, ended, reason ?? 'reverted', repeats)
  const where = txHash && blockNumber !== null ? { txHash, blockNumber } : null
  await announceSettled(tx, ended, where, repeats)
}
