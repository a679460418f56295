import { type Hex, keccak256, stringToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type TokenDomain, typedTransfer } from '#shared/chain/erc3009'
import { needsContract } from '../../../services/chain-relayer/chain/authorization'
import { ausd, creditLine } from '../chain/logs'
import { beginsAt } from './world'

export const treasury: Hex = '0x7ea5000000000000000000000000000000007ea5'
export const chainId = 10_143
export const domain: TokenDomain = {
  ...{ name: 'Agora Dollar', version: '1', chainId, verifyingContract: ausd },
}

export type Authorization = {
  readonly from: Hex
  readonly to: Hex
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: Hex
  readonly signature: Hex
}
/** The second authorization expires after a few minutes. */
export type Wallet = { readonly address: Hex; readonly authorizations: readonly Authorization[] }

const seconds = Math.floor(beginsAt / 1_000)
/** Validity in seconds from the beginning. */
const windows = [86_400, 540]

async function open(number: number): Promise<Wallet> {
  const account = privateKeyToAccount(keccak256(stringToHex(`wallet ${number}`)))
  const address = account.address.toLowerCase() as Hex
  const authorizations = await Promise.all(
    windows.map(async (window, place) => {
      const terms = {
        ...{ from: address, to: treasury, value: String(5_000_000 + number), validAfter: '0' },
        validBefore: String(seconds + window),
        nonce: keccak256(stringToHex(`nonce ${number} ${place}`)),
      }
      // Some wallets are contracts, whose signatures are not a key's.
      if (number % 6 === 5) return { ...terms, signature: `0x${'c0'.repeat(80)}` as const }
      const signature = await account.signTypedData(typedTransfer(domain, terms))
      return { ...terms, signature }
    }),
  )
  return { address, authorizations }
}

/**
 * Keys are slow, so all worlds share them. Signatures are checked beforehand, because a world
 * cannot wait for anything outside it.
 */
export async function openWallets(count: number): Promise<Wallet[]> {
  const wallets = await Promise.all(Array.from({ length: count }, (_, number) => open(number)))
  const contracts = { ausd, creditLine, domain }
  for (const { authorizations } of wallets)
    for (const authorization of authorizations) await needsContract(contracts, authorization)
  return wallets
}
