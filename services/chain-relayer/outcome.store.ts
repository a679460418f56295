import type { Tx } from '#shared/db/open'
import { announce, announceAgain } from '#shared/db/outbox.store'
import { idFor } from '#shared/ids'
import { relayFailed, relaySettled } from '#shared/messages/relay'
import type { Kind } from './operation'
import { moveOperation, type Operation } from './operation.store'
import { outbox } from './schema.store'

/** Where on the chain it happened; null when nothing had to be sent. */
export type Place = {
  readonly txHash: `0x${string}`
  readonly blockNumber: bigint
  readonly blockHash: `0x${string}`
}

type Ended = Pick<Operation, 'id' | 'kind' | 'cause' | 'wallet'>
const topicOf = (kind: Kind, state: 'settled' | 'failed') =>
  state === 'settled' ? relaySettled(kind) : relayFailed(kind)
const messageId = (kind: Kind, state: 'settled' | 'failed', cause: string) =>
  idFor('message', `${topicOf(kind, state).subject}:${cause}`)

/** Done, finally, and announced in the same commit. False: it had ended before. */
export async function settle(tx: Tx, operation: Ended, place: Place | null): Promise<boolean> {
  const { id, kind, cause, wallet } = operation
  if (!(await moveOperation(tx, id, 'settled', { ...place, reason: null }))) return false
  await announce(tx, outbox, relaySettled(kind), messageId(kind, 'settled', cause), {
    operationId: id,
    cause,
    wallet,
    txHash: place?.txHash ?? null,
    blockNumber: place ? String(place.blockNumber) : null,
  })
  return true
}

/** Not done, never to be done, and announced in the same commit. False: it had ended before. */
export async function fail(tx: Tx, operation: Ended, reason: string): Promise<boolean> {
  if (!(await moveOperation(tx, operation.id, 'failed', { reason }))) return false
  await announceFailure(tx, operation, reason)
  return true
}

export const announceFailure = (tx: Tx, { id, kind, cause, wallet }: Ended, reason: string) =>
  announce(tx, outbox, relayFailed(kind), messageId(kind, 'failed', cause), {
    operationId: id,
    cause,
    wallet,
    reason,
  })

/** For somebody who repeats a command because its outcome never reached them. */
export async function repeatOutcome(tx: Tx, operation: Operation): Promise<void> {
  const { kind, cause, state } = operation
  if (state !== 'settled' && state !== 'failed') return
  await announceAgain(tx, outbox, [messageId(kind, state, cause)])
}
