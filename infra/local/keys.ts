import { createHash, randomBytes } from 'node:crypto'
import type { Address, Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

export type DevAccount = { address: Address; privateKey: Hex }

/** Returns a key that is the same at every start, and worthless like the chain. */
export const devKey = (name: string): Hex => `0x${createHash('sha256').update(`local chain: ${name}`).digest('hex')}`

export const devAccount = (name: string): DevAccount => {
  const privateKey = devKey(name)
  return { privateKey, address: privateKeyToAccount(privateKey).address }
}

export const devWallets = (count: number): DevAccount[] =>
  Array.from({ length: count }, (_, index) => devAccount(`wallet ${index}`))

/** Returns a secret of 24 random bytes, in hex like those of a deployment: base64url can begin like a flag. */
export const freshSecret = (prefix = ''): string => `${prefix}${randomBytes(24).toString('hex')}`
