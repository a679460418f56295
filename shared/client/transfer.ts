import type { LocalAccount } from 'viem'
import { type SignedTransfer, type TokenDomain, typedTransfer } from '#shared/chain/erc3009'

type Address = `0x${string}`

/** What a person agrees to: so much AUSD (10⁻⁶) to somebody, once, within a time. */
export type TransferTerms = {
  readonly to: Address
  readonly valueMicro: bigint
  /** Seconds from now; an hour unless given. */
  readonly validForSeconds?: number
  /** Unix seconds, where an hour from now is not meant. */
  readonly validAfter?: bigint
  readonly validBefore?: bigint
  /** 32 random bytes unless given: it makes the transfer this one and no other. */
  readonly nonce?: Address
}

/** Whoever signs typed data for a wallet: an account of viem, or a browser's wallet behind the same names. */
export type TransferSigner = Pick<LocalAccount, 'address' | 'signTypedData'>

/** Signs an ERC-3009 authorization: a transfer that anybody may put on the chain, once. */
export async function signTransfer(
  account: TransferSigner,
  domain: TokenDomain,
  terms: TransferTerms,
): Promise<SignedTransfer> {
  const now = BigInt(Math.floor(Date.now() / 1000))
  const message = {
    from: account.address,
    to: terms.to,
    value: terms.valueMicro.toString(),
    // A clock that is a little fast must not make it a transfer of the future.
    validAfter: (terms.validAfter ?? now - 60n).toString(),
    validBefore: (terms.validBefore ?? now + BigInt(terms.validForSeconds ?? 3_600)).toString(),
    nonce: terms.nonce ?? randomNonce(),
  }
  return { ...message, signature: await account.signTypedData(typedTransfer(domain, message)) }
}

const randomNonce = (): Address => {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
