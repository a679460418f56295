import { LRUCache } from 'lru-cache'
import type { Clock } from '#shared/clock'
import { Refused } from './failure'

/** Throws the 429 when the key has used up its requests. */
export function takeFrom(limiter: Limiter, key: string): void {
  const waitSeconds = limiter.take(key)
  if (waitSeconds > 0) throw new Refused(429, 'too many requests, slow down', waitSeconds)
}

/** Counts requests by key. */
export type Limiter = {
  /** Takes one token: 0 when there was one, else the whole seconds until there is. */
  readonly take: (key: string) => number
}

type Bucket = { tokens: number; at: number }

/** More keys than that push the longest unused out: memory stays bounded. */
const keysMaxDefault = 50_000

/** A token bucket per key: `perMinute` at once, refilled evenly. */
export function openLimiter(options: {
  perMinute: number
  clock: Clock
  keysMax?: number
}): Limiter {
  const { perMinute, clock, keysMax = keysMaxDefault } = options
  const perMs = perMinute / 60_000
  const buckets = new LRUCache<string, Bucket>({ max: keysMax })
  const refilled = (key: string, now: number): number => {
    const bucket = buckets.get(key)
    if (!bucket) return perMinute
    return Math.min(perMinute, bucket.tokens + Math.max(0, now - bucket.at) * perMs)
  }
  return {
    take(key) {
      const now = clock()
      const tokens = refilled(key, now)
      const waitSeconds = tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perMs / 1000)
      buckets.set(key, { tokens: waitSeconds === 0 ? tokens - 1 : tokens, at: now })
      return waitSeconds
    },
  }
}

/** Places in which only so many wait at once. */
export type Places = {
  /** Takes one and gives back how to leave it; throws the 503 when all are taken. */
  readonly enter: () => () => void
}

/** What is asked without a sign-in must not fill what the signed-in ask through: more are refused. */
export function openPlaces(max: number): Places {
  let taken = 0
  return {
    enter() {
      if (taken >= max) throw new Refused(503, 'too many are waiting, try again in a moment')
      taken++
      return () => void taken--
    },
  }
}
