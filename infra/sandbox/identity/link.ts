import type { Context } from '../context'
import { randomHex } from '../ids'
import type { IdentityProvider } from '../records'

/** Makes a hosted identity link for a wallet and answers its address. */
export function openLink(
  { book, publicUrl }: Context,
  provider: IdentityProvider,
  wallet: string,
  lifeMs: number,
): string {
  const expiresAt = new Date(Date.now() + lifeMs).toISOString()
  const link = book.save('links', { id: randomHex(16), provider, wallet, expiresAt })
  return `${publicUrl}/identity/${link.id}`
}

/** A wallet as the identity providers are told it: a lower-case address. */
export const isWallet = (text: unknown): text is string =>
  typeof text === 'string' && /^0x[0-9a-f]{40}$/.test(text)
