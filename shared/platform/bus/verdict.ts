/** A retry is pointless. */
export class Malformed extends Error {
  override name = 'Malformed'
}

export type MessageVerdict = { retryInMs: number } | { dead: string }

/** Half an hour with the backoff below. */
export const attemptsMax = 40

export const retryMaxMs = 60_000

/** From 200 ms, doubling. */
const backoffMs = (attempts: number): number => Math.min(retryMaxMs, 100 * 2 ** Math.min(attempts, 12))

/** `attempts` includes this one. */
export function verdictOn(error: unknown, attempts: number): MessageVerdict {
  if (error instanceof Malformed) return { dead: error.message }
  if (attempts < attemptsMax) return { retryInMs: backoffMs(attempts) }
  const last = error instanceof Error ? error.message : String(error)
  return { dead: `gave up after ${attempts} attempts: ${last.slice(0, 300)}` }
}
