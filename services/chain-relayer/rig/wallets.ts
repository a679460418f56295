import { encodeFunctionData, type Hex, keccak256, toBytes } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { idFor } from '#shared/ids'
import type { SignedTransfer, Task } from '../operation'
import type { openStage } from './stage'

type Stage = Awaited<ReturnType<typeof openStage>>

export const newRefId = () => idFor('payment', crypto.randomUUID())
export const newNonce = () => keccak256(toBytes(crypto.randomUUID()))

/** Somebody who only receives. */
export const stranger = privateKeyToAccount(generatePrivateKey()).address

/** A wallet with its own key, AUSD and a little native coin. */
export async function newWallet(stage: Stage, micro = 10_000_000n) {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  await stage.chain.setBalance({ address, value: 10n ** 18n })
  if (micro > 0n) await stage.mint(address, micro)
  return { key, address }
}
export const take = (authorization: SignedTransfer): Task & { kind: 'take' } => ({
  kind: 'take',
  payload: { payoutId: crypto.randomUUID(), authorization },
})
export const transferData = (signed: SignedTransfer) =>
  encodeFunctionData({
    abi: ausdAbi,
    functionName: 'transferWithAuthorization',
    args: [
      ...([signed.from, signed.to, BigInt(signed.value)] as [Hex, Hex, bigint]),
      BigInt(signed.validAfter),
      BigInt(signed.validBefore),
      ...([signed.nonce, signed.signature] as [Hex, Hex]),
    ],
  })
export const freeze = (wallet: string, frozen: boolean, revision: bigint): Task => ({
  kind: 'freeze',
  payload: { wallet, frozen, revision: String(revision) },
})
export const verify = (wallet: string, verified: boolean, revision: bigint): Task => ({
  kind: 'verify',
  payload: { wallet, verified, revision: String(revision) },
})
