import { type Bucket, filled, msToToken } from '#platform/bucket'
import type { Clock } from '#platform/clock'

export type RateLimit = {
  /** Reserves a call and returns the delay before it in ms, or null if that is longer than `patienceMs`. */
  readonly reserve: (endpoint: string, patienceMs: number) => number | null
  /** Blocks an endpoint for a while, after the provider has reported its limit. */
  readonly block: (endpoint: string, forMs: number) => void
  readonly waitMs: (endpoint: string) => number
}

/** Share of the budget, because the provider counts calls per account and endpoint, from all callers. */
export type Share = {
  readonly copies: () => number
  /** Endpoints, such as `GET /transactions`, that another service calls too. */
  readonly alsoCalledByOthers?: readonly string[]
}

/** Returns the share of a budget, which is at least one call. */
export const shareOf = (requestsMax: number, among: number): number => Math.max(1, requestsMax / Math.max(1, among))

const minuteMs = 60_000
type Window = { readonly windowMs?: number }

/**
 * Opens a token bucket per endpoint. A sixth of the budget may be spent at once and the rest is added gradually, so no
 * window of `windowMs` exceeds `requestsMax`, unless the other instances have not yet counted a new one. `clock` never
 * goes back.
 */
export function openRateLimit(
  requestsMax: number,
  clock: Clock,
  { copies = () => 1, alsoCalledByOthers = [], windowMs = minuteMs }: Partial<Share> & Window = {},
): RateLimit {
  const paceOf = (endpoint: string) => {
    const services = alsoCalledByOthers.includes(endpoint) ? 2 : 1
    const max = shareOf(requestsMax, copies() * services)
    const capacity = Math.max(1, Math.floor(max / 6))
    return { capacity, perMs: Math.max(1, max - capacity) / windowMs }
  }
  const buckets = new Map<string, Bucket>()
  const blockedUntil = new Map<string, number>()

  const bucketOf = (endpoint: string): Bucket => filled(buckets.get(endpoint), paceOf(endpoint), clock())
  const waitFor = (endpoint: string): number =>
    Math.max(msToToken(bucketOf(endpoint), paceOf(endpoint)), (blockedUntil.get(endpoint) ?? 0) - clock(), 0)
  return {
    reserve: (endpoint, patienceMs) => {
      const waitMs = waitFor(endpoint)
      if (waitMs > patienceMs) return null
      const { tokens, at } = bucketOf(endpoint)
      buckets.set(endpoint, { tokens: tokens - 1, at })
      return waitMs
    },
    block: (endpoint, forMs) => {
      blockedUntil.set(endpoint, Math.max(blockedUntil.get(endpoint) ?? 0, clock() + forMs))
    },
    waitMs: waitFor,
  }
}
