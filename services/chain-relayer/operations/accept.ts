import { type Reaction, reactTo } from '#shared/bus/reaction'
import { Malformed } from '#shared/bus/verdict'
import type { Tx } from '#shared/db/open'
import * as relay from '#shared/messages/relay'
import type { Message, Topic } from '#shared/messages/topic'
import { type Order, orderOf, type Task } from './operation'
import { findOperation, insertOperation, type Operation } from './operation.store'
import { announceFailure, repeatOutcome } from './outcome'

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
  if (await insertOperation(tx, order)) return
  const known = await findOperation(tx, order.id)
  if (known) return recognise(tx, order, known)
  // One authorization moves money once: a second payout must not be paid out of it.
  const reason = 'authorization_conflict'
  const withoutNonce = { ...order, authorizationNonce: null }
  if (await insertOperation(tx, withoutNonce, { state: 'failed', reason }))
    await announceFailure(tx, order, reason)
}

async function recognise(tx: Tx, order: Order, known: Operation): Promise<void> {
  if (known.contentHash !== order.contentHash)
    throw new Malformed(`relay.${order.kind} ${order.cause} was ordered with other content before`)
  await repeatOutcome(tx, known)
}
