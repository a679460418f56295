import { encodeFunctionData, type Hex, type Log, parseEventLogs } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { manyGasLimit, type OpKind, opKinds } from '#shared/chain/gas'
import { refOf } from '#shared/chain/ref'
import { type BatchableTask, isBatchable, type Kind } from '../operations/operation'
import type { Call } from './transaction'

/**
 * Divides operations into those that share a transaction and those that are sent alone. What failed
 * once is sent alone, after it was examined; so is one for which there is no other.
 */
export function batched<O extends { readonly kind: Kind; readonly tries: number }>(
  operations: readonly O[],
  batchMax: number,
): { together: O[][]; alone: O[] } {
  const fits = (one: O) => batchMax > 1 && isBatchable(one.kind) && one.tries === 0
  const alone = operations.filter((one) => !fits(one))
  const candidates = operations.filter(fits)
  const together: O[][] = []
  for (let from = 0; from < candidates.length; from += batchMax) {
    const group = candidates.slice(from, from + batchMax)
    if (group.length > 1) together.push(group)
    else alone.push(...group)
  }
  return { together, alone }
}

/** Several operations in one transaction; one that reverts does not touch the others. */
export function manyCall(tasks: readonly BatchableTask[], creditLine: Hex): Call {
  const data = encodeFunctionData({
    abi: creditLineAbi,
    functionName: 'many',
    args: [tasks.map(opOf)],
  })
  return { to: creditLine, data, valueWei: 0n, gas: manyGasLimit(tasks.map(opKindOf)) }
}

/**
 * The positions in `many` whose operation reverted, with the revert data. All others took effect,
 * now or before (`AlreadyApplied`). Only events of the credit line itself count.
 */
export function failuresOf(logs: readonly Log[], creditLine: Hex): Map<number, Hex> {
  const own = logs.filter((log) => log.address.toLowerCase() === creditLine.toLowerCase())
  const failed = parseEventLogs({ abi: creditLineAbi, eventName: 'OpFailed', logs: [...own] })
  return new Map(failed.map(({ args }) => [Number(args.index), args.reason]))
}

export function opKindOf(task: BatchableTask): OpKind {
  switch (task.kind) {
    case 'credit':
      return task.payload.held ? 'heldTopUp' : 'topUp'
    case 'repay':
      return task.payload.held ? 'heldRepayFor' : 'repayFor'
    case 'revoke':
      return task.payload.of === 'topup' ? 'revokeTopUp' : 'revokeRepayment'
    case 'extend':
      return 'extendHold'
  }
}

/** An `Op` of the contract; fields that its kind does not use are 0. */
export function opOf(task: BatchableTask) {
  const { refId, wallet } = task.payload
  return {
    kind: opKinds[opKindOf(task)],
    ref: refOf(refId),
    account: wallet as Hex,
    amount: 'ausd' in task.payload ? BigInt(task.payload.ausd) : 0n,
    paidAt: 'paidAt' in task.payload ? asTime(task.payload.paidAt) : 0n,
  }
}

/** The contract clamps any time to its bounds; one too long for its field must not stop a lane. */
const asTime = (seconds: string): bigint => (BigInt(seconds) > timeMax ? timeMax : BigInt(seconds))
const timeMax = 2n ** 64n - 1n
