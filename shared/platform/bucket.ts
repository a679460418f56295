/** Size and refill of a token bucket: at most `capacity` tokens, of which `perMs` are added in each ms. */
export type Pace = { readonly capacity: number; readonly perMs: number }

/** Tokens of a bucket at a time in ms. A number below zero is a debt that later callers wait for. */
export type Bucket = { readonly tokens: number; readonly at: number }

/** Returns a bucket as of `now`. One from which nothing was taken yet is full; a clock that went back adds nothing. */
export function filled(bucket: Bucket | undefined, { capacity, perMs }: Pace, now: number): Bucket {
  if (!bucket) return { tokens: capacity, at: now }
  return { tokens: Math.min(capacity, bucket.tokens + Math.max(0, now - bucket.at) * perMs), at: now }
}

/** Returns the time in ms until the bucket has a token: 0 if it has one. */
export const msToToken = ({ tokens }: Bucket, { perMs }: Pace): number =>
  tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perMs)
