import { type Hex, keccak256, stringToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { SignedTransfer, TokenDomain } from '#shared/chain/erc3009'
import { signTransfer } from '#shared/client/transfer'
import { needsContract } from '../../../services/chain-relayer/chain/authorization'
import { ausd, creditLine } from '../chain/logs'
import { beginsAt } from './world'

export const treasury: Hex = '0x7ea5000000000000000000000000000000007ea5'
export const chainId = 10_143
export const domain: TokenDomain = {
  name: 'Agora Dollar',
  version: '1',
  chainId,
  verifyingContract: ausd,
}

/** A wallet, whose second authorization expires after a few minutes. */
export type Wallet = { readonly address: Hex; readonly authorizations: readonly SignedTransfer[] }

const seconds = Math.floor(beginsAt / 1_000)
/** Validity of the authorizations in seconds from the beginning. */
const windows = [86_400, 540]

async function open(number: number): Promise<Wallet> {
  const account = privateKeyToAccount(keccak256(stringToHex(`wallet ${number}`)))
  const address = account.address.toLowerCase() as Hex
  const authorizations = await Promise.all(
    windows.map(async (window, place) => {
      const signed = await signTransfer({ ...account, address }, domain, {
        to: treasury,
        valueMicro: 5_000_000n + BigInt(number),
        validBefore: BigInt(seconds + window),
        nonce: keccak256(stringToHex(`nonce ${number} ${place}`)),
      })
      // Some wallets are contracts, whose signatures are not a key's.
      return number % 6 === 5 ? { ...signed, signature: `0x${'c0'.repeat(80)}` as const } : signed
    }),
  )
  return { address, authorizations }
}

/**
 * Opens wallets, which all worlds share because they are slow to make. Signatures are checked beforehand, since a world
 * cannot wait.
 */
export async function openWallets(count: number): Promise<Wallet[]> {
  const wallets = await Promise.all(Array.from({ length: count }, (_, number) => open(number)))
  const contracts = { ausd, creditLine, domain }
  for (const { authorizations } of wallets)
    for (const authorization of authorizations) await needsContract(contracts, authorization)
  return wallets
}
