import { randomBytes } from 'node:crypto'
import type { Address, Hex, LocalAccount } from 'viem'
import { type SignedTransfer, typedTransfer } from '#shared/chain/erc3009'

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

/** What the app does: signs a transfer that anybody may put on the chain, once. */
export async function signTransfer(
  account: LocalAccount,
  terms: TransferTerms,
): Promise<SignedTransfer> {
  const now = BigInt(Math.floor(Date.now() / 1000))
  const message = {
    from: account.address,
    to: terms.to,
    value: terms.valueMicro.toString(),
    validAfter: (terms.validAfter ?? now - 60n).toString(),
    validBefore: (terms.validBefore ?? now + BigInt(terms.validForSeconds ?? 3_600)).toString(),
    nonce: terms.nonce ?? (`0x${randomBytes(32).toString('hex')}` as Hex),
  }
  const domain = {
    name: terms.tokenName ?? 'Agora Dollar',
    version: '1',
    chainId: terms.chainId,
    verifyingContract: terms.token,
  }
  return { ...message, signature: await account.signTypedData(typedTransfer(domain, message)) }
}
