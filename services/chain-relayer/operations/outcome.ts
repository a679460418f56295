import type { Tx } from '#shared/db/open'
import { announce } from '#shared/db/outbox.store'
import { idFor } from '#shared/ids'
import { relayFailed, relaySettled } from '#shared/messages/relay'
import type { Place } from '../chain/authorization'
import type { Context } from '../context'
import { outbox } from '../schema.store'
import { mayHappenLate } from './operation'
import { countRepeat, moveOperation, type Operation } from './operation.store'

type Ended = Pick<Operation, 'id' | 'kind' | 'cause' | 'wallet'>
type Where = Pick<Place, 'txHash' | 'blockNumber'>

/** Each repeat has an id of its own: the broker drops an id it saw within the last minutes. */
const messageId = (subject: string, cause: string, repeat: number) =>
  idFor('message', `${subject}:${cause}${repeat === 0 ? '' : `:${repeat}`}`)

/**
 * Done, finally, and announced in the same commit; without a place when nothing had to be sent.
 * False: it had ended before.
 */
export async function settle(tx: Tx, operation: Ended, place: Place | null): Promise<boolean> {
  const set = { ...place, reason: null }
  if (!(await moveOperation(tx, operation.id, 'settled', set, ['waiting', 'assigned'])))
    return false
  await announceSettled(tx, operation, place)
  return true
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

/** Not done, not to be done by us, and announced in the same commit. False: it had ended before. */
export async function fail(
  tx: Tx,
  operation: Ended & Pick<Operation, 'authorizationNonce'>,
  reason: string,
): Promise<boolean> {
  const watchAt = mayHappenLate(operation, reason) ? new Date() : null
  if (!(await moveOperation(tx, operation.id, 'failed', { reason, watchAt }))) return false
  await announceFailure(tx, operation, reason)
  return true
}

/** Ends an operation that no transaction carries. */
export async function giveUp(
  context: Context,
  operation: Operation,
  reason: string,
  alarm: boolean,
) {
  const failed = await context.database.transaction((tx) => fail(tx, operation, reason))
  if (!failed) return
  const fields = { operationId: operation.id, kind: operation.kind, reason, alarm }
  context.log[alarm ? 'error' : 'info'](fields, 'operation failed')
  context.poke()
}

const announceSettled = (
  tx: Tx,
  { id, kind, cause, wallet }: Ended,
  where: Where | null,
  repeat = 0,
) => {
  const topic = relaySettled(kind)
  return announce(tx, outbox, topic, messageId(topic.subject, cause, repeat), {
    operationId: id,
    cause,
    wallet,
    txHash: where?.txHash ?? null,
    blockNumber: where ? String(where.blockNumber) : null,
  })
}

/** Announces a failure; also of an order that never became an operation of its own. */
export const announceFailure = (
  tx: Tx,
  { id, kind, cause, wallet }: Ended,
  reason: string,
  repeat = 0,
) => {
  const topic = relayFailed(kind)
  const payload = { operationId: id, cause, wallet, reason }
  return announce(tx, outbox, topic, messageId(topic.subject, cause, repeat), payload)
}

/** Announces the outcome again, for somebody who repeats a command because they missed it. */
export async function repeatOutcome(tx: Tx, { id }: Operation): Promise<void> {
  const ended = await countRepeat(tx, id)
  if (!ended) return
  const { state, reason, txHash, blockNumber, repeats } = ended
  if (state === 'failed') return announceFailure(tx, ended, reason ?? 'reverted', repeats)
  const where = txHash && blockNumber !== null ? { txHash, blockNumber } : null
  await announceSettled(tx, ended, where, repeats)
}
