import type { Address, Hex } from 'viem'

// An authorization is a transfer signed by its owner, which any account may submit once
// (https://eips.ethereum.org/EIPS/eip-3009).

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
export type AuthorizationTerms = Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>

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
