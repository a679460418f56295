import type { LocalAccount } from 'viem'
import { type SignedTransfer, type TokenDomain, typedTransfer } from '#shared/chain/erc3009'

type Address = `0x${string}`

export type TransferTerms = {
  readonly to: Address
  readonly valueMicro: bigint
  /** From now; default one hour. */
  readonly validForSeconds?: number
  /** Unix seconds; overrides `validForSeconds`. */
  readonly validBefore?: bigint
  /** Default 32 random bytes. */
  readonly nonce?: Address
}

/** A viem account or browser wallet. */
export type TransferSigner = Pick<LocalAccount, 'address' | 'signTypedData'>

/** ERC-3009: any account may submit the transfer, once. */
export async function signTransfer(
  account: TransferSigner,
  domain: TokenDomain,
  terms: TransferTerms,
): Promise<SignedTransfer> {
  const { validForSeconds = 3_600 } = terms
  const validBefore = terms.validBefore ?? BigInt(Math.floor(Date.now() / 1000) + validForSeconds)
  const message = {
    from: account.address,
    to: terms.to,
    value: terms.valueMicro.toString(),
    validAfter: '0', // At once, also by a device whose clock is fast.
    validBefore: validBefore.toString(),
    nonce: terms.nonce ?? randomNonce(),
  }
  return { ...message, signature: await account.signTypedData(typedTransfer(domain, message)) }
}

const randomNonce = (): Address => {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
