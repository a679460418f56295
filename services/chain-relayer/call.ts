import { encodeFunctionData, type Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { gasLimits, manyGasLimit } from '#shared/chain/gas'
import { refOf } from '#shared/chain/ref'
import type { SignedTransfer, Task } from './operation'
import type { Call } from './transaction'

type Line = Extract<Task, { kind: 'credit' | 'repay' | 'revoke' | 'verify' }>
type Packed = Extract<Task, { kind: 'credit' | 'repay' | 'revoke' }>

const hex = (text: string) => text as Hex

/** The call of an operation on the credit line, alone in its transaction. */
export function lineCall(task: Line, creditLine: Hex): Call {
  const call = (data: Hex, gas: bigint): Call => ({ to: creditLine, data, valueWei: 0n, gas })
  switch (task.kind) {
    case 'credit': {
      const { paymentId, wallet, ausd, held } = task.payload
      const args = [refOf(paymentId), hex(wallet), BigInt(ausd), held] as const
      const data = encodeFunctionData({ abi: creditLineAbi, functionName: 'topUp', args })
      return call(data, held ? gasLimits.heldTopUp : gasLimits.topUp)
    }
    case 'repay': {
      const { paymentId, wallet, ausd } = task.payload
      const args = [refOf(paymentId), hex(wallet), BigInt(ausd)] as const
      const data = encodeFunctionData({ abi: creditLineAbi, functionName: 'repayFor', args })
      return call(data, gasLimits.repayFor)
    }
    case 'revoke': {
      const args = [refOf(task.payload.paymentId)] as const
      const data = encodeFunctionData({ abi: creditLineAbi, functionName: 'revokeTopUp', args })
      return call(data, gasLimits.revokeTopUp)
    }
    case 'verify': {
      const args = [hex(task.payload.wallet), task.payload.verified] as const
      const data = encodeFunctionData({ abi: creditLineAbi, functionName: 'setVerified', args })
      return call(data, gasLimits.setVerified)
    }
  }
}

/** Several operations in one transaction; one that reverts does not touch the others. */
export function manyCall(tasks: readonly Packed[], creditLine: Hex): Call {
  const data = encodeFunctionData({
    abi: creditLineAbi,
    functionName: 'many',
    args: [tasks.map(opOf)],
  })
  return { to: creditLine, data, valueWei: 0n, gas: manyGasLimit(tasks.length) }
}

/** Kinds of `Op` in the contract: 0 top-up, 1 held top-up, 2 repayFor, 3 revokeTopUp. */
function opOf(task: Packed) {
  const { paymentId, wallet } = task.payload
  const own = { ref: refOf(paymentId), account: hex(wallet) }
  switch (task.kind) {
    case 'credit':
      return { ...own, kind: task.payload.held ? 1 : 0, amount: BigInt(task.payload.ausd) }
    case 'repay':
      return { ...own, kind: 2, amount: BigInt(task.payload.ausd) }
    case 'revoke':
      return { ...own, kind: 3, amount: 0n }
  }
}

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
