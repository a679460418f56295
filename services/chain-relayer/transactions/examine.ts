import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { refOf } from '#shared/chain/ref'
import { findUse, isUsedAt } from '../chain/authorization'
import { type AfterRevert, afterRevert, doubtsMax, revertOf } from '../chain/errors'
import { type Context, logThrottled } from '../context'
import { type PayloadOf, payerOf } from '../operations/operation'
import {
  blockOfRef,
  newestRevision,
  type Operation,
  postponeOperation,
} from '../operations/operation.store'
import { giveUp, settle } from '../operations/outcome'
import { callOf, transferTerms } from './call'
import type { Call } from './transaction'

const waitMs = 15_000
/** Two states of the chain disagree: the newer one is about to become final. */
const unsettledMs = 500

/**
 * Examines an operation before it gets a nonce, because a revert costs the whole gas limit. Answers
 * the call to send; or undefined when the operation ended here, or must wait.
 */
export async function examine(
  context: Context,
  operation: Operation,
  from: `0x${string}`,
): Promise<Call | undefined> {
  if (await isNeedless(context, operation)) {
    await context.database.transaction((tx) => settle(tx, operation, null))
    context.log.info({ operationId: operation.id, kind: operation.kind }, 'nothing to send')
    context.poke()
    return undefined
  }
  if (operation.kind === 'drip' && !(await canAfford(context, operation, from))) return undefined
  const call = await callOf(context, operation)
  const expected = await foresee(context, operation, call, from)
  if (expected === 'send') return call
  await answer(context, operation, expected)
  return undefined
}

async function isNeedless(context: Context, operation: Operation): Promise<boolean> {
  const { database, node, settings } = context
  if (operation.kind === 'verify' || operation.kind === 'freeze')
    return (await database.read((db) => newestRevision(db, operation))) > operation.revision!
  if (operation.kind === 'extend') return isExtended(context, operation.payload)
  if (operation.kind !== 'drip') return false
  const heldWei = await node.reader.getBalance({ address: operation.wallet })
  return heldWei >= settings.dripBelowWei
}

/** Whether the hold ends, finally, later than it did when the order was given. */
async function isExtended({ node, contracts }: Context, { refId, until }: PayloadOf<'extend'>) {
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

async function canAfford(context: Context, operation: Operation, lane: `0x${string}`) {
  const { dripWei, laneFloorWei } = context.settings
  const balanceWei = await context.node.reader.getBalance({ address: lane })
  if (balanceWei - dripWei >= laneFloorWei && balanceWei > dripWei) return true
  const fields = { lane, balanceWei: String(balanceWei), alarm: true }
  logThrottled(
    context,
    `drips:${lane}`,
    fields,
    'lane is too low on native coin for drips: fund it',
  )
  await context.database.run((db) => postponeOperation(db, operation.id, waitMs, 0))
  return false
}

/**
 * Calls without sending. A refusal counts only when the finalized state refuses for the same reason
 * as the newest. When nobody can say, it is sent: a revert costs gas and nothing else.
 */
async function foresee(
  context: Context,
  operation: Operation,
  call: Call,
  from: `0x${string}`,
): Promise<AfterRevert | 'send' | 'unsettled'> {
  const request = { from, to: call.to, data: call.data, value: call.valueWei, gas: call.gas }
  try {
    const newest = await context.node.call(request, 'latest')
    if (!('reverted' in newest)) return 'send'
    const head = await context.node.finalizedHead()
    const settled = await context.node.call(request, head.number)
    const revert = revertOf(newest.reverted)
    if (!('reverted' in settled) || revertOf(settled.reverted) !== revert) return 'unsettled'
    if (revert === 'not_held' && (await isBehind(context, operation, head.number)))
      return 'unsettled'
    return afterRevert(revert, payerOf(operation.kind))
  } catch (error) {
    context.log.debug({ err: error, operationId: operation.id }, 'operation could not be simulated')
    return 'send'
  }
}

/** An endpoint that lags behind the block of the payment says nothing about its hold. */
async function isBehind({ database }: Context, { payload }: Operation, blockNumber: bigint) {
  if (!('refId' in payload)) return false
  return blockNumber < (await database.read((db) => blockOfRef(db, payload.refId)))
}

async function answer(context: Context, operation: Operation, expected: AfterRevert | 'unsettled') {
  const { database } = context
  const { id, kind } = operation
  const postpone = (ms: number, tries: 0 | 1 = 0) =>
    database.run((db) => postponeOperation(db, id, ms, tries))
  if (expected === 'unsettled') return postpone(unsettledMs)
  if (expected.do === 'look_up') return lookUp(context, operation)
  if (expected.do === 'doubt' && operation.tries < doubtsMax) return postpone(2_000, 1)
  if (expected.do === 'wait') {
    const fields = { operationId: id, kind, alarm: expected.alarm }
    logThrottled(context, `wait:${kind}`, fields, 'operation has to wait: treasury, pause or role')
    return postpone(expected.alarm ? waitMs : unsettledMs)
  }
  const { reason, alarm } = expected.do === 'fail' ? expected : { reason: 'reverted', alarm: true }
  await giveUp(context, operation, reason, alarm)
}

/**
 * The token says that this authorization is used, cancelled or expired. Finds out, in finalized
 * blocks alone, which: whoever submitted it, the transfer happened and counts.
 */
async function lookUp(context: Context, operation: Operation): Promise<void> {
  const postpone = (ms: number) =>
    context.database.run((db) => postponeOperation(db, operation.id, ms, 0))
  const terms = transferTerms(context, operation)
  if (!terms) return void (await postpone(5_000))
  const head = await context.node.finalizedHead()
  if (!(await isUsedAt(context, terms, head))) {
    if (operation.kind !== 'return' && head.timestamp >= BigInt(terms.validBefore))
      return giveUp(context, operation, 'authorization_expired', false)
    return void (await postpone(500))
  }
  const use = await findUse(context, terms, head, operation.createdAt)
  if (use === 'cancelled') return giveUp(context, operation, 'authorization_cancelled', false)
  if (use === 'used_elsewhere')
    return giveUp(context, operation, 'authorization_used_elsewhere', true)
  if (use === 'unknown') {
    const fields = { operationId: operation.id, alarm: true }
    logThrottled(context, `use:${operation.id}`, fields, 'use of an authorization was not found')
    return void (await postpone(5_000))
  }
  await context.database.transaction((tx) => settle(tx, operation, use.used))
  context.log.info(
    { operationId: operation.id, txHash: use.used.txHash },
    'done by a transaction of somebody else',
  )
  context.poke()
}
