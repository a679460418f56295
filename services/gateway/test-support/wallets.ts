import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { signInText } from '#shared/api/session'

export const ana = privateKeyToAccount(`0x${'a1'.repeat(32)}`)
export const budi = privateKeyToAccount(`0x${'b2'.repeat(32)}`)

export const walletOf = (account: PrivateKeyAccount) => account.address.toLowerCase() as `0x${string}`

export const nowMs = Date.UTC(2026, 10, 21, 7)
export const nowSeconds = nowMs / 1000
export const tomorrow = nowSeconds + 86_400

/** Returns the Authorization header of a session. `claims` replaces parts of it after signing. */
export async function headerOf(
  account: PrivateKeyAccount,
  until: number = tomorrow,
  claims: { wallet?: string; until?: string; signature?: string } = {},
): Promise<string> {
  const signature = await account.signMessage({ message: signInText(account.address, until) })
  const wallet = claims.wallet ?? account.address
  return `Service ${wallet}.${claims.until ?? until}.${claims.signature ?? signature}`
}
