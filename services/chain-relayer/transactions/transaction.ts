import { type Hex, keccak256, type PrivateKeyAccount } from 'viem'
import { gasLimits } from '#shared/chain/gas'
import type { Fees } from './fees'

/** What a transaction does, apart from who sends it and at what fee. */
export type Call = {
  readonly to: `0x${string}`
  readonly data: `0x${string}`
  readonly valueWei: bigint
  readonly gas: bigint
}

/** Uses up a nonce: sends nothing, from the lane to itself. */
export const noopCall = (lane: `0x${string}`): Call => ({
  to: lane,
  data: '0x',
  valueWei: 0n,
  gas: gasLimits.nativeTransfer,
})

export type Signed = { readonly raw: Hex; readonly hash: Hex }

/** Signs without asking the node. The same fields give the same bytes (RFC 6979). */
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
