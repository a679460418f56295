import type { Clock } from '#platform/clock'

/** A provider's clock, as its responses show it: either clock may be hours wrong. */
export type ProviderClock = {
  /** Returns how far the provider's clock is ahead of ours, in ms; 0 if by less than a minute. */
  readonly aheadMs: () => number
  /** Returns the time by the provider's clock, in Unix ms. */
  readonly now: () => number
  /** Reads the `Date` of the provider's own response. Returns true if the difference has changed. */
  readonly read: (headers: Headers) => boolean
}

/** Opens a clock, which equals ours until the first response. */
export function openProviderClock(clock: Clock): ProviderClock {
  let aheadMs = 0
  return {
    aheadMs: () => aheadMs,
    now: () => clock() + aheadMs,
    read: (headers) => {
      const before = aheadMs
      aheadMs = aheadBy(headers, clock()) ?? before
      return Math.abs(aheadMs - before) >= leastAheadMs
    },
  }
}

/** Least difference in ms that counts: `Date` has whole seconds, and a response takes some. */
const leastAheadMs = 60_000
/** Largest difference in ms that counts; a `Date` further away is a fault of its own. */
const mostAheadMs = 24 * 3_600_000

/** Returns the difference in ms, or undefined if the `Date` (RFC 9110: always in GMT) is missing or invalid. */
function aheadBy(headers: Headers, nowMs: number): number | undefined {
  const date = headers.get('date') ?? ''
  const ms = date.endsWith(' GMT') ? Date.parse(date) - nowMs : Number.NaN
  if (!(Math.abs(ms) <= mostAheadMs)) return undefined
  return Math.abs(ms) < leastAheadMs ? 0 : ms
}
