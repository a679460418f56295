import type { Pair } from '#shared/money/pair'
import type { Answer } from '#shared/refusals'
import { ok, refuse } from '#shared/refusals'

export type Lock = {
  readonly pair: Pair
  /** Minor units of the local currency per US dollar, with the spread. */
  readonly minorPerUsd: bigint
  /** Spread in basis points of the rate without spread; negative if the quote is for cash-outs only. */
  readonly spreadBps: bigint
  /** Direction of the money that the quote prices. */
  readonly use: 'any' | 'pay_in' | 'pay_out'
  /** Unix ms from which the quote is expired. */
  readonly expiresAtMs: number
}

/** A lock with its id, which is in lower case. */
export type Quote = Lock & {
  readonly id: string
  /** Earliest possible time of issue in Unix ms, so that a clock that was ahead lengthens no lock. */
  readonly validFromMs: number
}

/** Tolerated difference between clocks, in ms. */
const clocksDifferMs = 60_000

export const validFromMs = ({ expiresAtMs }: Lock, quoteTtlMs: number): number =>
  expiresAtMs - quoteTtlMs - clocksDifferMs

export const isExpired = ({ validFromMs, expiresAtMs }: Quote, nowMs: number): boolean =>
  nowMs < validFromMs || nowMs >= expiresAtMs

/**
 * Decides whether the taker may have the quote. `requestFingerprint` is that of the earlier taker, who gets the same
 * answer even after expiry, or null if nobody has taken it.
 */
export function judgeTaker(
  quote: Quote,
  taker: string,
  { requestFingerprint, nowMs }: { requestFingerprint: string | null; nowMs: number },
): Answer<Quote> {
  if (requestFingerprint === taker) return ok(quote)
  // guard: a taken quote is used for every other taker
  if (requestFingerprint !== null) return refuse('quote_used')
  // guard: an expired quote is refused
  if (isExpired(quote, nowMs)) return refuse('quote_expired')
  return ok(quote)
}
