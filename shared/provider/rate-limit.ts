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

type Bucket = {
  tokens: number
  filledAt: number
  blockedUntil: number
}

/**
 * The provider counts per account and endpoint, whoever calls. Each copy of a service takes its part
 * of the budget; what both payments and payouts read of one account is divided between them as well.
 */
export type Share = {
  /** Copies of this service that run now. */
  readonly copies: () => number
  /** Endpoints that another service calls with the same key, such as `GET /transactions`. */
  readonly alsoCalledByOthers?: readonly string[]
}

/** What is left of a budget for one of so many: never less than one call. */
export const shareOf = (requestsMax: number, among: number): number =>
  Math.max(1, requestsMax / Math.max(1, among))

const minuteMs = 60_000
/** The time that a budget is for; a minute when left out. */
type Window = { readonly windowMs?: number }

/**
 * A token bucket per endpoint. A sixth of the budget may be spent at once and the rest trickles in,
 * so that no window of `windowMs` ever sees more than `requestsMax`; but for a window in which a copy
 * joins, until the others have counted it.
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
    const gained = Math.max(0, now - bucket.filledAt) * tokensPerMs
    bucket.tokens = Math.min(capacity, bucket.tokens + gained)
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
      filled(endpoint).tokens -= 1 // Below zero is a debt that those who come later wait for.
      return waitMs
    },
    block: (endpoint, forMs) => {
      const bucket = filled(endpoint)
      bucket.blockedUntil = Math.max(bucket.blockedUntil, clock() + forMs)
    },
    waitMs: waitFor,
  }
}
