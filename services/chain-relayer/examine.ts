import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { refOf } from '#shared/chain/ref'
import { newestRevision } from './due.store'
import { giveUp } from './give-up'
import { lookUp } from './lookup'
import type { PayloadOf } from './operation'
import { blockOfRef, type Operation, postponeOperation } from './operation.store'
import { settle } from './outcome.store'
import { complain, type Relayer } from './relayer'
import { doubtsMax, type Fate, fateOf, revertOf } from './reverts'
import { callOf } from './signer'
import type { Call } from './transaction'

const waitMs = 15_000
/** Two states of the chain disagree: the newer one is about to become final. */
const unsettledMs = 500

/**
 * Looks at an operation before it gets a nonce, because a revert costs the whole gas limit. Answers
 * the call to send; or undefined when the operation ended here, or must wait.
 */
export async function examine(
  relayer: Relayer,
  operation: Operation,
  from: `0x${string}`,
): Promise<Call | undefined> {
  if (await isNeedless(relayer, operation)) {
    await relayer.database.transaction((tx) => settle(tx, operation, null))
    relayer.log.info({ operationId: operation.id, kind: operation.kind }, 'nothing to send')
    relayer.poke()
    return undefined
  }
  if (operation.kind === 'drip' && !(await canAfford(relayer, operation, from))) return undefined
  const call = await callOf(relayer, operation)
  const fate = await foresee(relayer, operation, call, from)
  if (fate === 'send') return call
  await meet(relayer, operation, fate)
  return undefined
}

async function isNeedless(relayer: Relayer, operation: Operation): Promise<boolean> {
  const { database, node, settings } = relayer
  if (operation.kind === 'verify' || operation.kind === 'freeze')
    return (await database.read((db) => newestRevision(db, operation))) > operation.revision!
  if (operation.kind === 'extend') return isExtended(relayer, operation.payload)
  if (operation.kind !== 'drip') return false
  const heldWei = await node.reader.getBalance({ address: operation.wallet })
  return heldWei >= settings.dripBelowWei
}

/** Whether the hold ends, finally, later than it did when the order was given. */
async function isExtended({ node, contracts }: Relayer, { refId, until }: PayloadOf<'extend'>) {
  const { number: blockNumber } = await node.finalizedHead()
  const [, , , endsAt] = await node.reader.readContract({
    address: contracts.creditLine,
    abi: creditLineAbi,
    functionName: 'holdOf',
    args: [refOf(refId)],
    blockNumber,
  })
  return endsAt > BigInt(until)
}

async function canAfford(relayer: Relayer, operation: Operation, lane: `0x${string}`) {
  const { dripWei, laneFloorWei } = relayer.settings
  const balanceWei = await relayer.node.reader.getBalance({ address: lane })
  if (balanceWei - dripWei >= laneFloorWei && balanceWei > dripWei) return true
  const fields = { lane, balanceWei: String(balanceWei), alarm: true }
  complain(relayer, `drips:${lane}`, fields, 'lane is too low on native coin for drips: fund it')
  await relayer.database.read((db) => postponeOperation(db, operation.id, waitMs, 0))
  return false
}

/**
 * Calls without sending. A refusal counts only when the finalized state refuses for the same reason
 * as the newest. When nobody can say, it is sent: a revert costs gas and nothing else.
 */
async function foresee(
  relayer: Relayer,
  operation: Operation,
  call: Call,
  from: `0x${string}`,
): Promise<Fate | 'send' | 'unsettled'> {
  const request = { from, to: call.to, data: call.data, value: call.valueWei, gas: call.gas }
  try {
    const newest = await relayer.node.call(request, 'latest')
    if (!('reverted' in newest)) return 'send'
    const head = await relayer.node.finalizedHead()
    const settled = await relayer.node.call(request, head.number)
    const revert = revertOf(newest.reverted)
    if (!('reverted' in settled) || revertOf(settled.reverted) !== revert) return 'unsettled'
    if (revert === 'not_held' && (await isBehind(relayer, operation, head.number)))
      return 'unsettled'
    return fateOf(operation.kind, revert)
  } catch (error) {
    relayer.log.debug({ err: error, operationId: operation.id }, 'operation could not be simulated')
    return 'send'
  }
}

/** An endpoint that has not come to the payment itself yet has no say on its hold. */
async function isBehind({ database }: Relayer, { payload }: Operation, blockNumber: bigint) {
  if (!('refId' in payload)) return false
  return blockNumber < (await database.read((db) => blockOfRef(db, payload.refId)))
}

async function meet(relayer: Relayer, operation: Operation, fate: Fate | 'unsettled') {
  const { database } = relayer
  const { id, kind } = operation
  const postpone = (ms: number, tries: 0 | 1 = 0) =>
    database.read((db) => postponeOperation(db, id, ms, tries))
  if (fate === 'unsettled') return postpone(unsettledMs)
  if (fate.do === 'look_up') return lookUp(relayer, operation)
  if (fate.do === 'doubt' && operation.tries < doubtsMax) return postpone(2_000, 1)
  if (fate.do === 'wait') {
    const fields = { operationId: id, kind, alarm: fate.alarm }
    complain(relayer, `wait:${kind}`, fields, 'operation has to wait: treasury, pause or role')
    return postpone(fate.alarm ? waitMs : unsettledMs)
  }
  const { reason, alarm } = fate.do === 'fail' ? fate : { reason: 'reverted', alarm: true }
  await giveUp(relayer, operation, reason, alarm)
}
