import { randomInt } from 'node:crypto'
import type { Context } from './context'
import type { Lock } from './quote'
import { markEnd, mintQuoteId } from './quote-id'

export type QuoteIssuer = (rate: Omit<Lock, 'expiresAtMs'>) => Lock & { readonly id: string }

/** Issues quotes. Marks begin at random, so two instances rarely issue the same id in one millisecond. */
export function openQuoteIssuer({
  quoteSecrets: [secret],
  quoteTtlMs,
  clock,
  ...fees
}: Pick<Context, 'quoteSecrets' | 'cashoutFee' | 'topupFees' | 'quoteTtlMs' | 'clock'>): QuoteIssuer {
  let mark = randomInt(markEnd)
  return (rate) => {
    mark = (mark + 1) % markEnd
    const lock = { ...rate, expiresAtMs: clock() + quoteTtlMs }
    return { id: mintQuoteId(secret, lock, mark, fees), ...lock }
  }
}
