import type { Pair } from '#shared/money/pair'
import type { Answer } from '#shared/refusals'
import { ok, refuse } from '#shared/refusals'

/** A rate promised to the holder of a quote. */
export type Lock = {
  readonly pair: Pair
  /** Minor units of the local currency for one US dollar. */
  readonly minorPerUsd: bigint
  /** Spread contained in it, in basis points of the rate without spread. */
  readonly spreadBps: bigint
  /** Unix milliseconds from which the quote is expired. */
  readonly expiresAtMs: number
}

/** A locked rate with its id, in lower case. */
export type Quote = Lock & { readonly id: string }

/**
 * Decides whether `taker` has or may take the quote. `requestFingerprint` is null until a taker has used it
 * and never changes afterwards. A repeat by the same taker gets the same answer, even after expiry;
 * for any other taker the quote is used.
 */
export function judgeTaker(
  quote: Quote,
  taker: string,
  { requestFingerprint, nowMs }: { requestFingerprint: string | null; nowMs: number },
): Answer<Quote> {
  if (requestFingerprint === taker) return ok(quote)
  if (requestFingerprint !== null) return refuse('quote_used')
  if (nowMs >= quote.expiresAtMs) return refuse('quote_expired')
  return ok(quote)
}
