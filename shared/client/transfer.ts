import type { Address, Hex, LocalAccount, WalletClient } from 'viem'
import { type SignedTransfer, type TokenDomain, typedTransfer } from '#shared/chain/erc3009'
import { serviceMs } from '#shared/client/service-time'
import type { Signer } from '#shared/client/session'

export type TransferTerms = {
  readonly to: Address
  readonly valueMicro: bigint
  /** Validity from now on by the clock of the service, in seconds. The default is one hour. */
  readonly validForSeconds?: number
  /** End of the validity in Unix seconds, which overrides `validForSeconds`. */
  readonly validBefore?: bigint
  /** Nonce of the authorization. The default is 32 random bytes. */
  readonly nonce?: Hex
}

/** A signer of transfers, such as a viem account. `fromWallet` makes one of a browser wallet. */
export type TransferSigner = Pick<LocalAccount, 'address' | 'signTypedData'>

/**
 * Returns the signer of a browser wallet, as viem's `WalletClient` reaches it (injected, WalletConnect, embedded). `address`
 * is the wallet's address if the client has no account of its own.
 */
export function fromWallet(
  wallet: Pick<WalletClient, 'account' | 'signMessage' | 'signTypedData'>,
  address: Address | undefined = wallet.account?.address,
): Signer & TransferSigner {
  if (!address) throw new Error('the wallet has no account: pass its address')
  // The service writes addresses in lower case, and wallets in upper case too.
  const isOwn = wallet.account?.address.toLowerCase() === address.toLowerCase()
  const account = isOwn && wallet.account ? wallet.account : address
  return {
    address,
    signMessage: ({ message }) => wallet.signMessage({ account, message }),
    signTypedData: (typed) => wallet.signTypedData({ account, ...typed } as never),
  }
}

/** Signs an ERC-3009 transfer, which any account may submit once. */
export async function signTransfer(
  account: TransferSigner,
  domain: TokenDomain,
  terms: TransferTerms,
): Promise<SignedTransfer> {
  const { validForSeconds = 3_600 } = terms
  const validBefore = terms.validBefore ?? BigInt(Math.floor(serviceMs() / 1000) + validForSeconds)
  const message = {
    from: account.address,
    to: terms.to,
    value: terms.valueMicro.toString(),
    validAfter: '0', // The transfer is valid at once, also if the clock of the device is fast.
    validBefore: validBefore.toString(),
    nonce: terms.nonce ?? randomNonce(),
  }
  return { ...message, signature: await account.signTypedData(typedTransfer(domain, message)) }
}

const randomNonce = (): Hex => {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
