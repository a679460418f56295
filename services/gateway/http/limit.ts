import { LRUCache } from 'lru-cache'
import type { Clock } from '#platform/clock'
import type { Config } from '../config'
import { Refused } from './failure'

/** Takes a token. Throws a 429 if there is none. */
export function takeFrom(limiter: Limiter, key: string): void {
  const waitSeconds = limiter.take(key)
  if (waitSeconds > 0) throw new Refused(429, [{ code: 'too_many_requests' }], waitSeconds)
}

export type Limiter = {
  /** Takes a token and returns 0, or returns the seconds until one is available. */
  readonly take: (key: string) => number
  /** Gives a token back, for work that failed through no fault of the caller. */
  readonly giveBack: (key: string) => void
}

type Bucket = { tokens: number; at: number }

/** Maximum number of keys, which bounds the memory. */
const keysMaxDefault = 50_000

/** Opens a token bucket per key: `atOnce` tokens, refilled evenly at `perMinute`. */
export function openLimiter(options: { perMinute: number; atOnce?: number; clock: Clock; keysMax?: number }): Limiter {
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
    giveBack(key) {
      const now = clock()
      buckets.set(key, { tokens: Math.min(atOnce, refilled(key, now) + 1), at: now })
    },
  }
}

/** Limits per address. Every request takes from one of them before it costs anything. */
export type AddressLimits = Readonly<Record<'public' | 'delivery' | 'signed' | 'probe', Limiter>>

export function openAddressLimits(config: Config, clock: Clock): AddressLimits {
  const limiter = (perMinute: number) => openLimiter({ perMinute, clock })
  return {
    /** Limit of public routes, and of unknown ones. */
    public: limiter(config.rateLimitPublicPerMinute),
    delivery: limiter(config.rateLimitDeliveriesPerMinute),
    signed: limiter(config.rateLimitSignedPerAddressPerMinute),
    /** Limit of health checks and CORS preflights, which ask no other service. */
    probe: limiter(config.rateLimitSignedPerAddressPerMinute),
  }
}

export type Slots = {
  /** Takes a slot and returns the function that releases it. Throws a 503 if no slot is free. */
  readonly enter: () => () => void
}

/** Opens slots for unsigned requests, which must not use up the capacity for signed ones. */
export function openPlaces(max: number): Slots {
  let taken = 0
  return {
    enter() {
      if (taken >= max) throw new Refused(503, [{ code: 'busy_for_a_moment' }])
      taken++
      return () => void taken--
    },
  }
}
