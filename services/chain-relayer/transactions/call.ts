import { encodeFunctionData, type Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import {
  type AuthorizationTerms,
  type GivenAuthorization,
  typedTransfer,
} from '#shared/chain/erc3009'
import { gasLimits } from '#shared/chain/gas'
import { refOf } from '#shared/chain/ref'
import { toUnixSeconds } from '#shared/clock'
import type { Context } from '../context'
import type { BatchableTask, PayloadOf, Task } from '../operations/operation'
import type { Operation } from '../operations/operation.store'
import { opKindOf, opOf } from './batch'
import { raisedGas } from './fees'
import type { Call } from './transaction'

/** The call an operation needs when it is sent alone; more gas for each try that failed. */
export async function callOf(context: Context, operation: Operation): Promise<Call> {
  const { contracts, settings } = context
  const call = await plainCall()
  return { ...call, gas: raisedGas(call.gas, operation.tries) }

  async function plainCall(): Promise<Call> {
    switch (operation.kind) {
      case 'take':
      case 'send': {
        const { authorization } = operation.payload
        return transferCall(authorization, contracts.ausd, transferGas(authorization))
      }
      case 'return':
        return returnCall(context, operation)
      case 'drip':
        return {
          to: operation.wallet,
          data: '0x',
          valueWei: settings.dripWei,
          gas: gasLimits.nativeTransfer,
        }
      default:
        return lineCall(operation, contracts.creditLine)
    }
  }
}

const transferGas = ({ signature }: GivenAuthorization) =>
  signature.length === 132
    ? gasLimits.transferWithAuthorization
    : gasLimits.transferWithAuthorizationFromContract

async function returnCall(
  context: Context,
  operation: Operation & { payload: PayloadOf<'return'> },
): Promise<Call> {
  const terms = transferTerms(context, operation)!
  const { domain, ausd } = context.contracts
  const signature = await context.treasury.signTypedData(typedTransfer(domain, terms))
  return transferCall({ ...terms, signature }, ausd, gasLimits.transferWithAuthorization)
}

/** How long a return is valid; after that it is signed again, with the same nonce. */
const returnValidSeconds = 24 * 60 * 60

/** The authorization nonce of a return: the token itself refuses a second one. */
export const returnNonce = (payoutId: string): Hex => refOf(`return:${payoutId}`)

/** What the transfer of a take, a send or a return must be, apart from its signature. */
export function transferTerms(
  context: Context,
  operation: Operation,
): AuthorizationTerms | undefined {
  if (operation.kind === 'take' || operation.kind === 'send') return operation.payload.authorization
  if (operation.kind !== 'return') return undefined
  const { payoutId, wallet, ausd } = operation.payload
  return {
    from: context.treasury.address.toLowerCase(),
    to: wallet,
    value: ausd,
    validAfter: '0',
    validBefore: String(toUnixSeconds(context.clock()) + returnValidSeconds),
    nonce: returnNonce(payoutId),
  }
}

/** Submits a signed transfer; the `bytes` overload takes signatures of keys and of contracts. */
function transferCall(signed: GivenAuthorization, ausd: Hex, gas: bigint): Call {
  const { from, to, value, validAfter, validBefore, nonce, signature } = signed
  const data = encodeFunctionData({
    abi: ausdAbi,
    functionName: 'transferWithAuthorization',
    args: [
      from as Hex,
      to as Hex,
      BigInt(value),
      BigInt(validAfter),
      BigInt(validBefore),
      nonce as Hex,
      signature as Hex,
    ],
  })
  return { to: ausd, data, valueWei: 0n, gas }
}

type Line = Extract<Task, { kind: BatchableTask['kind'] | 'verify' | 'freeze' }>

/** The call of an operation on the credit line, alone in its transaction. */
const lineCall = (task: Line, creditLine: Hex): Call => ({
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
    const args = [task.payload.wallet as Hex, task.payload.verified] as const
    return encodeFunctionData({ abi, functionName: 'setVerified', args })
  }
  if (task.kind === 'freeze') {
    const args = [task.payload.wallet as Hex, task.payload.frozen] as const
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
