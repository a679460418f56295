import type { Clock } from '#platform/clock'

export type RateLimit = {
  /** Reserves a call and returns the delay before it in ms, or null if that is longer than `patienceMs`. */
  readonly reserve: (endpoint: string, patienceMs: number) => number | null
  /** Blocks an endpoint for a while, after the provider has reported its limit. */
  readonly block: (endpoint: string, forMs: number) => void
  readonly waitMs: (endpoint: string) => number
}

type Bucket = {
  tokens: number
  filledAt: number
  blockedUntil: number
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
    return { capacity, tokensPerMs: Math.max(1, max - capacity) / windowMs }
  }
  const buckets = new Map<string, Bucket>()

  const filled = (endpoint: string): Bucket => {
    const now = clock()
    const { capacity, tokensPerMs } = paceOf(endpoint)
    const bucket = buckets.get(endpoint) ?? { tokens: capacity, filledAt: now, blockedUntil: 0 }
    bucket.tokens = Math.min(capacity, bucket.tokens + (now - bucket.filledAt) * tokensPerMs)
    bucket.filledAt = now
    buckets.set(endpoint, bucket)
    return bucket
  }
  const waitFor = (endpoint: string): number => {
    const bucket = filled(endpoint)
    const { tokensPerMs } = paceOf(endpoint)
    const forToken = bucket.tokens >= 1 ? 0 : Math.ceil((1 - bucket.tokens) / tokensPerMs)
    return Math.max(forToken, bucket.blockedUntil - clock(), 0)
  }
  return {
    reserve: (endpoint, patienceMs) => {
      const waitMs = waitFor(endpoint)
      if (waitMs > patienceMs) return null
      filled(endpoint).tokens -= 1 // A number below zero is a debt that later callers wait for.
      return waitMs
    },
    block: (endpoint, forMs) => {
      const bucket = filled(endpoint)
      bucket.blockedUntil = Math.max(bucket.blockedUntil, clock() + forMs)
    },
    waitMs: waitFor,
  }
}
