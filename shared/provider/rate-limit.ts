import type { Clock } from '#shared/clock'

/** A budget of calls per endpoint, as its owner counts them. */
export type RateLimit = {
  /** How long to wait before calling, the place being taken; null when longer than `patienceMs`. */
  readonly reserve: (endpoint: string, patienceMs: number) => number | null
  /** The provider said no more for now. */
  readonly block: (endpoint: string, forMs: number) => void
  /** When the next call could be made, in ms from now. */
  readonly waitMs: (endpoint: string) => number
}

type Bucket = { tokens: number; filledAt: number; blockedUntil: number }

const minuteMs = 60_000

/**
 * A token bucket per endpoint. A sixth of the budget may be spent at once and the rest trickles in,
 * so that no window of `windowMs` ever sees more than `requestsMax`.
 */
export function openRateLimit(
  requestsMax: number,
  clock: Clock,
  windowMs: number = minuteMs,
): RateLimit {
  const capacity = Math.max(1, Math.floor(requestsMax / 6))
  const tokensPerMs = Math.max(1, requestsMax - capacity) / windowMs
  const buckets = new Map<string, Bucket>()

  const filled = (endpoint: string): Bucket => {
    const now = clock()
    const bucket = buckets.get(endpoint) ?? { tokens: capacity, filledAt: now, blockedUntil: 0 }
    const gained = Math.max(0, now - bucket.filledAt) * tokensPerMs
    bucket.tokens = Math.min(capacity, bucket.tokens + gained)
    bucket.filledAt = now
    buckets.set(endpoint, bucket)
    return bucket
  }
  const waitFor = (bucket: Bucket): number => {
    const forToken = bucket.tokens >= 1 ? 0 : Math.ceil((1 - bucket.tokens) / tokensPerMs)
    return Math.max(forToken, bucket.blockedUntil - clock(), 0)
  }
  return {
    reserve: (endpoint, patienceMs) => {
      const bucket = filled(endpoint)
      const waitMs = waitFor(bucket)
      if (waitMs > patienceMs) return null
      bucket.tokens -= 1 // Below zero is a debt that those who come later wait for.
      return waitMs
    },
    block: (endpoint, forMs) => {
      const bucket = filled(endpoint)
      bucket.blockedUntil = Math.max(bucket.blockedUntil, clock() + forMs)
    },
    waitMs: (endpoint) => waitFor(filled(endpoint)),
  }
}
