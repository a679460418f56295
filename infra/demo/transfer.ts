import { randomBytes } from 'node:crypto'
import type { Address, Hex, LocalAccount } from 'viem'

export type SignedTransfer = {
  from: Address
  to: Address
  value: string
  validAfter: string
  validBefore: string
  nonce: Hex
  signature: Hex
}

export type TransferTerms = {
  to: Address
  valueMicro: bigint
  token: Address
  chainId: number
  /** Seconds from now; an hour unless given. */
  validForSeconds?: number
  validAfter?: bigint
  validBefore?: bigint
  nonce?: Hex
  tokenName?: string
}

/** The EIP-712 type of ERC-3009. */
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

/** What the app does: signs a transfer that anybody may put on the chain, once. */
export async function signTransfer(
  account: LocalAccount,
  terms: TransferTerms,
): Promise<SignedTransfer> {
  const now = BigInt(Math.floor(Date.now() / 1000))
  const message = {
    from: account.address,
    to: terms.to,
    value: terms.valueMicro,
    validAfter: terms.validAfter ?? now - 60n,
    validBefore: terms.validBefore ?? now + BigInt(terms.validForSeconds ?? 3_600),
    nonce: terms.nonce ?? (`0x${randomBytes(32).toString('hex')}` as Hex),
  }
  const signature = await account.signTypedData({
    domain: {
      name: terms.tokenName ?? 'Agora Dollar',
      version: '1',
      chainId: terms.chainId,
      verifyingContract: terms.token,
    },
    types: transferTypes,
    primaryType: 'TransferWithAuthorization',
    message,
  })
  return {
    ...message,
    value: message.value.toString(),
    validAfter: message.validAfter.toString(),
    validBefore: message.validBefore.toString(),
    signature,
  }
}
