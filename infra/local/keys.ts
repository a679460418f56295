import { createHash, randomBytes } from 'node:crypto'
import type { Address, Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

export type DevAccount = { address: Address; privateKey: Hex }

/** The same name gives the same key at every start: worthless keys of a worthless chain. */
export const devKey = (name: string): Hex =>
  `0x${createHash('sha256').update(`local chain: ${name}`).digest('hex')}`

export const devAccount = (name: string): DevAccount => {
  const privateKey = devKey(name)
  return { privateKey, address: privateKeyToAccount(privateKey).address }
}

/** The wallets that a stack hands to developers and tests. */
export const devWallets = (count: number): DevAccount[] =>
  Array.from({ length: count }, (_, index) => devAccount(`wallet ${index}`))

/** A fresh secret for this stack alone. */
export const freshSecret = (prefix = ''): string =>
  `${prefix}${randomBytes(24).toString('base64url')}`
