import type { Pair } from '#shared/money/pair'
import type { Answer } from '#shared/refusals'
import { ok, refuse } from '#shared/refusals'

export type Lock = {
  readonly pair: Pair
  /** Minor units of the local currency per US dollar, with the spread. */
  readonly minorPerUsd: bigint
  /** Basis points of the rate without spread. */
  readonly spreadBps: bigint
  /** Unix ms from which the quote is expired. */
  readonly expiresAtMs: number
}

/** The id is in lower case. */
export type Quote = Lock & {
  readonly id: string
  /** Earliest time of issue, Unix ms: a clock that was ahead lengthens no lock. */
  readonly validFromMs: number
}

/** Clocks differ by less. */
const clocksDifferMs = 60_000

export const validFromMs = ({ expiresAtMs }: Lock, quoteTtlMs: number): number =>
  expiresAtMs - quoteTtlMs - clocksDifferMs

export const isExpired = ({ validFromMs, expiresAtMs }: Quote, nowMs: number): boolean =>
  nowMs < validFromMs || nowMs >= expiresAtMs

/**
 * `requestFingerprint` is that of the taker, who gets the same answer even after expiry; null
 * before.
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
