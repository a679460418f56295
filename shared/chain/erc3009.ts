import type { Static } from 'typebox'
import { type Address, type Hex, parseErc6492Signature } from 'viem'
import type { Authorization } from '#shared/messages/fields'

// An authorization is a transfer signed by its owner, which any account may submit once
// (https://eips.ethereum.org/EIPS/eip-3009).

/** An authorization as received: hex may be of any case, and numbers may have leading zeros. */
export type GivenAuthorization = Static<typeof Authorization>

/** A transfer in its one canonical form, with decimal strings as numbers and Unix seconds as times. */
export type SignedTransfer = {
  readonly from: Address
  readonly to: Address
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: Hex
  readonly signature: Hex
}

/** A transfer without its signature, because one transfer has many valid signatures. */
export type AuthorizationTerms = Omit<GivenAuthorization, 'signature'>

const lower = (hex: string) => hex.toLowerCase() as Hex
const digits = (text: string) => BigInt(text).toString()

/**
 * Returns the signature of a deployed wallet without its ERC-6492 wrapper, which some apps add although it is for
 * wallets to be deployed. The code to deploy the wallet is never run. https://eips.ethereum.org/EIPS/eip-6492
 */
export function unwrapped(signature: Hex): Hex {
  try {
    return parseErc6492Signature(signature).signature
  } catch {
    return signature // The signature only ends like a wrapper.
  }
}

const parityBit = 1n << 255n

/**
 * Returns a signature of a key as 65 bytes with a v of 27 or 28, which every version of the token takes. Ledger and MPC
 * wallets sign with 0 or 1, and some libraries write 64 bytes, whose v is the highest bit of s
 * (https://eips.ethereum.org/EIPS/eip-2098). A contract's signature must not be changed, because its bytes mean
 * something else.
 */
export function withTokenV(signature: Hex): Hex {
  if (/^0x[0-9a-f]{128}0[01]$/i.test(signature))
    return `${signature.slice(0, 130) as Hex}${signature.endsWith('0') ? '1b' : '1c'}`
  if (!/^0x[0-9a-f]{128}$/i.test(signature)) return signature
  const last = BigInt(`0x${signature.slice(66)}`)
  const s = (last % parityBit).toString(16).padStart(64, '0')
  return `${signature.slice(0, 66) as Hex}${s}${last < parityBit ? '1b' : '1c'}`
}

/** Returns the canonical form: lower-case hex, no leading zeros, and no ERC-6492 wrapper. */
export const canonical = (given: GivenAuthorization): SignedTransfer => ({
  from: lower(given.from),
  to: lower(given.to),
  value: digits(given.value),
  validAfter: digits(given.validAfter),
  validBefore: digits(given.validBefore),
  nonce: lower(given.nonce),
  signature: unwrapped(lower(given.signature)),
})

export type TokenDomain = {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly verifyingContract: Address
}

export const authorizationFields = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

export const erc3009Types = { TransferWithAuthorization: authorizationFields } as const

export const typedTransfer = (domain: TokenDomain, terms: AuthorizationTerms) =>
  ({
    domain,
    types: erc3009Types,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: terms.from as Address,
      to: terms.to as Address,
      value: BigInt(terms.value),
      validAfter: BigInt(terms.validAfter),
      validBefore: BigInt(terms.validBefore),
      nonce: terms.nonce as Hex,
    },
  }) as const

export const cancelTypes = {
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

export const typedCancel = (domain: TokenDomain, message: { readonly authorizer: Address; readonly nonce: Hex }) =>
  ({ domain, types: cancelTypes, primaryType: 'CancelAuthorization', message }) as const
