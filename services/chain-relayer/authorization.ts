import { type Hex, hashTypedData, recoverAddress } from 'viem'
import type { SignedTransfer } from './operation'

/** The EIP-712 domain of the token, as the chain tells it. */
export type TokenDomain = {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly verifyingContract: Hex
}

/** https://eips.ethereum.org/EIPS/eip-3009 */
export const transferTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

type Terms = Omit<SignedTransfer, 'signature'>

/** What a wallet signs to let a transfer happen. */
export const typedTransfer = (domain: TokenDomain, terms: Terms) =>
  ({
    domain,
    types: transferTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: terms.from as Hex,
      to: terms.to as Hex,
      value: BigInt(terms.value),
      validAfter: BigInt(terms.validAfter),
      validBefore: BigInt(terms.validBefore),
      nonce: terms.nonce as Hex,
    },
  }) as const

export const transferDigest = (domain: TokenDomain, terms: Terms): Hex =>
  hashTypedData(typedTransfer(domain, terms))

/** Half the order of secp256k1; above it a signature is the mirror image of another one (EIP-2). */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/**
 * Whether `signer`'s own key made this signature: 65 bytes, low s, v 27 or 28, as OpenZeppelin's
 * ECDSA demands. Costs a millisecond, asks nobody.
 */
export async function signedByKey(
  signer: string,
  digest: Hex,
  signature: string,
): Promise<boolean> {
  if (!/^0x[0-9a-f]{128}(1b|1c)$/i.test(signature)) return false
  if (BigInt(`0x${signature.slice(66, 130)}`) > halfOrder) return false
  try {
    const found = await recoverAddress({ hash: digest, signature: signature as Hex })
    return found.toLowerCase() === signer.toLowerCase()
  } catch {
    return false
  }
}
