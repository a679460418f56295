import { encodeFunctionData, type Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { gasLimits, manyGasLimit, type OpKind, opKinds } from '#shared/chain/gas'
import { refOf } from '#shared/chain/ref'
import type { PackedTask, SignedTransfer, Task } from './operation'
import type { Call } from './transaction'

type Line = Extract<Task, { kind: PackedTask['kind'] | 'verify' | 'freeze' }>

const hex = (text: string) => text as Hex

/** The call of an operation on the credit line, alone in its transaction. */
export const lineCall = (task: Line, creditLine: Hex): Call => ({
  to: creditLine,
  data: lineData(task),
  valueWei: 0n,
  gas: gasLimits[lineGas(task)],
})

const lineGas = (task: Line): keyof typeof gasLimits => {
  if (task.kind === 'verify') return 'setVerified'
  return task.kind === 'freeze' ? 'setFrozen' : opKindOf(task)
}

function lineData(task: Line): Hex {
  const abi = creditLineAbi
  if (task.kind === 'verify') {
    const args = [hex(task.payload.wallet), task.payload.verified] as const
    return encodeFunctionData({ abi, functionName: 'setVerified', args })
  }
  if (task.kind === 'freeze') {
    const args = [hex(task.payload.wallet), task.payload.frozen] as const
    return encodeFunctionData({ abi, functionName: 'setFrozen', args })
  }
  const { ref, account, amount, paidAt } = opOf(task)
  switch (task.kind) {
    case 'credit': {
      const args = [ref, account, amount, task.payload.held] as const
      return encodeFunctionData({ abi, functionName: 'topUp', args })
    }
    case 'repay': {
      const args = [ref, account, amount, task.payload.held, paidAt] as const
      return encodeFunctionData({ abi, functionName: 'repayFor', args })
    }
    case 'revoke': {
      const functionName = task.payload.of === 'topup' ? 'revokeTopUp' : 'revokeRepayment'
      return encodeFunctionData({ abi, functionName, args: [ref] })
    }
    case 'extend':
      return encodeFunctionData({ abi, functionName: 'extendHold', args: [ref] })
  }
}

/** Several operations in one transaction; one that reverts does not touch the others. */
export function manyCall(tasks: readonly PackedTask[], creditLine: Hex): Call {
  const data = encodeFunctionData({
    abi: creditLineAbi,
    functionName: 'many',
    args: [tasks.map(opOf)],
  })
  return { to: creditLine, data, valueWei: 0n, gas: manyGasLimit(tasks.map(opKindOf)) }
}

function opKindOf(task: PackedTask): OpKind {
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

/** An `Op` of the contract; what its kind has no use for is 0. */
function opOf(task: PackedTask) {
  const { refId, wallet } = task.payload
  return {
    kind: opKinds[opKindOf(task)],
    ref: refOf(refId),
    account: hex(wallet),
    amount: 'ausd' in task.payload ? BigInt(task.payload.ausd) : 0n,
    paidAt: 'paidAt' in task.payload ? asTime(task.payload.paidAt) : 0n,
  }
}

/** The contract puts any time within its bounds; one too long for its field must not stop a lane. */
const asTime = (seconds: string): bigint => (BigInt(seconds) > timeMax ? timeMax : BigInt(seconds))
const timeMax = 2n ** 64n - 1n

/** Submits a signed transfer; the `bytes` overload takes signatures of keys and of contracts. */
export function transferCall(signed: SignedTransfer, ausd: Hex, gas: bigint): Call {
  const { from, to, value, validAfter, validBefore, nonce, signature } = signed
  const data = encodeFunctionData({
    abi: ausdAbi,
    functionName: 'transferWithAuthorization',
    args: [
      hex(from),
      hex(to),
      BigInt(value),
      BigInt(validAfter),
      BigInt(validBefore),
      hex(nonce),
      hex(signature),
    ],
  })
  return { to: ausd, data, valueWei: 0n, gas }
}
