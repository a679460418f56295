import { LRUCache } from 'lru-cache'
import { type Bucket, filled, msToToken } from '#platform/bucket'
import type { Clock } from '#platform/clock'
import type { Config } from '../config'
import { Refused } from './failure'

/** Takes a token. Throws a 429 if there is none. */
export function takeFrom(limiter: Limiter, key: string): void {
  const waitSeconds = limiter.take(key)
  if (waitSeconds > 0) throw new Refused(429, [{ code: 'too_many_requests' }], waitSeconds)
}

/**
 * Returns the headers that tell a client its limit and how much of it is left
 * (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/). `t` is in seconds.
 */
export function limitHeaders(limiter: Limiter, key: string): Record<string, string> {
  const { left, fullInSeconds } = limiter.state(key)
  return {
    'ratelimit-policy': `"wallet";q=${limiter.perMinute};w=60`,
    ratelimit: `"wallet";r=${left};t=${fullInSeconds}`,
  }
}

export type Limiter = {
  readonly perMinute: number
  /** Returns the tokens left, and the seconds until none is missing. */
  readonly state: (key: string) => { readonly left: number; readonly fullInSeconds: number }
  /** Takes a token and returns 0, or returns the seconds until one is available. */
  readonly take: (key: string) => number
  /** Gives a token back, for work that failed through no fault of the caller. */
  readonly giveBack: (key: string) => void
}

/** Maximum number of keys, which bounds the memory. */
const keysMaxDefault = 50_000

/** Opens a token bucket per key: `atOnce` tokens, refilled evenly at `perMinute`. */
export function openLimiter(options: { perMinute: number; atOnce?: number; clock: Clock; keysMax?: number }): Limiter {
  const { perMinute, atOnce = perMinute, clock, keysMax = keysMaxDefault } = options
  const pace = { capacity: atOnce, perMs: perMinute / 60_000 }
  const buckets = new LRUCache<string, Bucket>({ max: keysMax })
  const bucketOf = (key: string): Bucket => filled(buckets.get(key), pace, clock())
  return {
    perMinute,
    state: (key) => {
      const { tokens } = bucketOf(key)
      return { left: Math.floor(tokens), fullInSeconds: Math.ceil((atOnce - tokens) / pace.perMs / 1_000) }
    },
    take(key) {
      const bucket = bucketOf(key)
      const waitSeconds = Math.ceil(msToToken(bucket, pace) / 1_000)
      buckets.set(key, waitSeconds === 0 ? { ...bucket, tokens: bucket.tokens - 1 } : bucket)
      return waitSeconds
    },
    giveBack(key) {
      const { tokens, at } = bucketOf(key)
      buckets.set(key, { tokens: Math.min(atOnce, tokens + 1), at })
    },
  }
}

/**
 * Limits per address. A request without a valid session takes from one of them before it costs anything. One with a valid
 * session takes from its wallet's limit alone, because a phone network has hundreds of people behind one address.
 */
export type AddressLimits = Readonly<Record<'public' | 'start' | 'delivery' | 'signed' | 'probe', Limiter>>

export function openAddressLimits(config: Config, clock: Clock): AddressLimits {
  const limiter = (perMinute: number) => openLimiter({ perMinute, clock })
  return {
    /** Limit of public routes, and of unknown ones. */
    public: limiter(config.rateLimitPublicPerMinute),
    /** Limit of what an app reads before it signs in, which costs nothing: hundreds may open it behind one address. */
    start: limiter(config.rateLimitSignInsPerMinute),
    delivery: limiter(config.rateLimitDeliveriesPerMinute),
    /** Limit of requests to signed routes whose session is missing, refused, or new to this instance. */
    signed: limiter(config.rateLimitSignInsPerMinute),
    /** Limit of health checks and CORS preflights, which ask no other service. */
    probe: limiter(config.rateLimitSignInsPerMinute),
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
