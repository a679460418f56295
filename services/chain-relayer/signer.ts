import { type Hex, keccak256, type PrivateKeyAccount } from 'viem'
import { gasLimits } from '#shared/chain/gas'
import { refOf } from '#shared/chain/ref'
import { toUnixSeconds } from '#shared/clock'
import { typedTransfer } from './authorization'
import { lineCall, transferCall } from './call'
import { type Fees, raisedGas } from './fees'
import type { PayloadOf, SignedTransfer } from './operation'
import type { Operation } from './operation.store'
import type { Relayer } from './relayer'
import type { Call } from './transaction'

/** A return waits for a lane for so long; it is signed anew, under the same nonce, after that. */
const returnValidSeconds = 24 * 60 * 60

/** The authorization nonce of a return: the token itself refuses a second one. */
export const returnNonce = (payoutId: string): Hex => refOf(`return:${payoutId}`)

/** What the transfer of a take, a send or a return must be, apart from its signature. */
export function transferTerms(
  relayer: Pick<Relayer, 'treasury' | 'clock'>,
  operation: Operation,
): Omit<SignedTransfer, 'signature'> | undefined {
  if (operation.kind === 'take' || operation.kind === 'send') return operation.payload.authorization
  if (operation.kind !== 'return') return undefined
  const { payoutId, wallet, ausd } = operation.payload
  return {
    from: relayer.treasury.address.toLowerCase(),
    to: wallet,
    value: ausd,
    validAfter: '0',
    validBefore: String(toUnixSeconds(relayer.clock()) + returnValidSeconds),
    nonce: returnNonce(payoutId),
  }
}

/** The call an operation needs when it travels alone; more gas for each try that failed. */
export async function callOf(relayer: Relayer, operation: Operation): Promise<Call> {
  const { contracts, settings } = relayer
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
        return returnCall(relayer, operation)
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

const transferGas = ({ signature }: SignedTransfer) =>
  signature.length === 132
    ? gasLimits.transferWithAuthorization
    : gasLimits.transferWithAuthorizationFromContract

async function returnCall(
  relayer: Relayer,
  operation: Operation & { payload: PayloadOf<'return'> },
): Promise<Call> {
  const terms = transferTerms(relayer, operation)!
  const { domain, ausd } = relayer.contracts
  const signature = await relayer.treasury.signTypedData(typedTransfer(domain, terms))
  return transferCall({ ...terms, signature }, ausd, gasLimits.transferWithAuthorization)
}

export type Signed = { readonly raw: Hex; readonly hash: Hex }

/** Signs offline: nothing is asked of the node. The same fields give the same bytes (RFC 6979). */
export async function signCall(
  key: PrivateKeyAccount,
  chainId: number,
  fields: { nonce: number; call: Call; fees: Fees },
): Promise<Signed> {
  const { nonce, call, fees } = fields
  const raw = await key.signTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    to: call.to,
    data: call.data,
    value: call.valueWei,
    gas: call.gas,
    maxFeePerGas: fees.maxFeeWei,
    maxPriorityFeePerGas: fees.priorityWei,
  })
  return { raw, hash: keccak256(raw) }
}
