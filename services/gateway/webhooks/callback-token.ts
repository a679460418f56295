import { createHash, timingSafeEqual } from 'node:crypto'
import type { ProviderAccount } from '#shared/money/pair'

/** Every accepted token, by account; two during a rotation. */
export type CallbackTokens = Readonly<Record<ProviderAccount, readonly string[]>>

const digest = (text: string) => createHash('sha256').update(text).digest()

/**
 * Says which provider account a token belongs to. Both sides are hashed, so that they have one
 * length, and every known token is compared, so that the time tells nothing. Throws when one token
 * would stand for both accounts.
 */
export function callbackAccounts(tokens: CallbackTokens) {
  const known = (['ID', 'MY'] as const).flatMap((account) =>
    tokens[account].map((token) => ({ account, digest: digest(token) })),
  )
  const shared = tokens.ID.some((token) => tokens.MY.includes(token))
  if (shared) throw new Error('a callback token must belong to one account only')
  return (presented: string | null): ProviderAccount | undefined => {
    const given = digest(presented ?? '')
    const matches = known.filter((token) => timingSafeEqual(token.digest, given))
    return presented ? matches[0]?.account : undefined
  }
}
