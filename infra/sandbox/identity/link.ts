import type { SandboxContext } from '../context'
import { randomIds } from '../random'
import type { IdentityProvider } from '../records'

export function openLink(
  { book, publicUrl }: SandboxContext,
  provider: IdentityProvider,
  wallet: string,
  lifeMs: number,
): string {
  const expiresAt = new Date(Date.now() + lifeMs).toISOString()
  const link = book.save('links', { id: randomIds.hex(16), provider, wallet, expiresAt })
  return `${publicUrl}/identity/${link.id}`
}

/** Tests for a wallet in lower case, the form that identity providers get. */
export const isWallet = (text: unknown): text is string => typeof text === 'string' && /^0x[0-9a-f]{40}$/.test(text)
