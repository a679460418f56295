import { Refused } from './refused.ts'
import type { Limiter } from './token-bucket.ts'

/** Throws the 429 when the key has used up its requests. */
export function takeFrom(limiter: Limiter, key: string): void {
  const waitSeconds = limiter.take(key)
  if (waitSeconds > 0) throw new Refused(429, 'too many requests, slow down', waitSeconds)
}
