import type { Pair } from '#shared/money/pair'
import type { Answer, RefusalCode } from '#shared/refusals'
import { ok, refuse } from '#shared/refusals'

/** A rate promised to whoever has the quote. */
export type Lock = {
  readonly pair: Pair
  /** Smallest units of the local currency for one US dollar. */
  readonly minorPerUsd: bigint
  /** How much of it is spread: basis points of the rate before. */
  readonly spreadBps: bigint
  /** Unix milliseconds; at this very moment the quote is already expired. */
  readonly expiresAtMs: number
}

/** A locked rate. `takenBy` is null until one caller has used it; then it never changes again. */
export type Quote = Lock & { readonly id: string; readonly takenBy: string | null }

/** What `takeQuote` wants done: nothing for the taker's own repeat, else one guarded write. */
export type Taking = { taken: Quote; write: boolean } | { refused: RefusalCode }

/** A new quote, free to be taken until `ttlMs` from now; `mint` makes its id of what it promises. */
export function lockQuote(
  mint: (lock: Lock) => string,
  rate: Omit<Lock, 'expiresAtMs'>,
  time: { nowMs: number; ttlMs: number },
): Quote {
  const lock = { ...rate, expiresAtMs: time.nowMs + time.ttlMs }
  return { id: mint(lock), ...lock, takenBy: null }
}

/**
 * Decides about taking. The taker's own repeat gets the same answer for as long as the taking is
 * remembered, also after expiry; what somebody else took is used, however fresh.
 */
export function takeQuote(quote: Quote | undefined, takenBy: string, nowMs: number): Taking {
  if (!quote) return refuse('quote_unknown')
  if (quote.takenBy === takenBy) return { taken: quote, write: false }
  if (quote.takenBy !== null) return refuse('quote_used')
  if (nowMs >= quote.expiresAtMs) return refuse('quote_expired')
  return { taken: { ...quote, takenBy }, write: true }
}

/** What taking would answer now, without taking. */
export function findQuote(quote: Quote | undefined, takenBy: string, nowMs: number): Answer<Quote> {
  const taking = takeQuote(quote, takenBy, nowMs)
  return 'refused' in taking ? taking : ok(taking.taken)
}
