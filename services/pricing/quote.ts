import type { Pair } from '#shared/money/pair'
import type { Answer } from '#shared/refusals'
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

/** A locked rate under its id, which is in lower case. */
export type Quote = Lock & { readonly id: string }

/**
 * Whether `taker` has the quote or may take it. `takenBy` is null until one taker has used it; then
 * it never changes again. The taker's own repeat gets the same answer, also after expiry; what
 * somebody else took is used, however fresh.
 */
export function judgeTaker(
  quote: Quote,
  taker: string,
  { takenBy, nowMs }: { takenBy: string | null; nowMs: number },
): Answer<Quote> {
  if (takenBy === taker) return ok(quote)
  if (takenBy !== null) return refuse('quote_used')
  if (nowMs >= quote.expiresAtMs) return refuse('quote_expired')
  return ok(quote)
}
