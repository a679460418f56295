import { LRUCache } from 'lru-cache'
import type { Clock } from '#platform/clock'
import type { Config } from '../config'
import { Refused } from './failure'

/** Throws a 429 if the key has no requests left. */
export function takeFrom(limiter: Limiter, key: string): void {
  const waitSeconds = limiter.take(key)
  if (waitSeconds > 0) throw new Refused(429, [{ code: 'too_many_requests' }], waitSeconds)
}

/** Rate limiter by key. */
export type Limiter = {
  /** Takes one token; returns 0, or the seconds until one is available. */
  readonly take: (key: string) => number
}

type Bucket = { tokens: number; at: number }

/** Bounds memory; beyond it the least recently used key is dropped. */
const keysMaxDefault = 50_000

/** Opens a token bucket per key: `atOnce` tokens, of which `perMinute` are refilled evenly. */
export function openLimiter(options: {
  perMinute: number
  atOnce?: number
  clock: Clock
  keysMax?: number
}): Limiter {
  const { perMinute, atOnce = perMinute, clock, keysMax = keysMaxDefault } = options
  const perMs = perMinute / 60_000
  const buckets = new LRUCache<string, Bucket>({ max: keysMax })
  const refilled = (key: string, now: number): number => {
    const bucket = buckets.get(key)
    if (!bucket) return atOnce
    return Math.min(atOnce, bucket.tokens + Math.max(0, now - bucket.at) * perMs)
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

/** Rate limiters by address; every request takes from one of them before it costs anything. */
export type AddressLimits = Readonly<Record<'public' | 'delivery' | 'signed' | 'probe', Limiter>>

export function openAddressLimits(config: Config, clock: Clock): AddressLimits {
  const limiter = (perMinute: number) => openLimiter({ perMinute, clock })
  return {
    /** Without sign-in, and unknown routes. */
    public: limiter(config.rateLimitPublicPerMinute),
    /** Webhooks. */
    delivery: limiter(config.rateLimitDeliveriesPerMinute),
    signed: limiter(config.rateLimitSignedPerAddressPerMinute),
    /** Health checks and CORS preflights, which ask no other service. */
    probe: limiter(config.rateLimitSignedPerAddressPerMinute),
  }
}

/** Concurrency limit. */
export type Places = {
  /** Takes a slot and returns a function that releases it; throws a 503 if none is free. */
  readonly enter: () => () => void
}

/** Opens a limit, so that unsigned requests cannot use up the capacity that signed ones need. */
export function openPlaces(max: number): Places {
  let taken = 0
  return {
    enter() {
      if (taken >= max) throw new Refused(503, [{ code: 'busy_for_a_moment' }])
      taken++
      return () => void taken--
    },
  }
}
