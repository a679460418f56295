import { backoffMs } from '#platform/backoff'

/** Error of a message for which a retry is pointless. */
export class Malformed extends Error {
  override name = 'Malformed'
}

export type MessageVerdict = { retryInMs: number } | { dead: string }

/** Most attempts, which take half an hour with the backoff below. */
export const attemptsMax = 40

const retryFirstMs = 200
export const retryMaxMs = 60_000

/** Decides what follows a failed attempt; `attempts` includes this one. */
export function verdictOn(error: unknown, attempts: number): MessageVerdict {
  if (error instanceof Malformed) return { dead: error.message }
  if (attempts < attemptsMax)
    return { retryInMs: backoffMs({ firstMs: retryFirstMs, maxMs: retryMaxMs }, attempts - 1) }
  const last = error instanceof Error ? error.message : String(error)
  return { dead: `gave up after ${attempts} attempts: ${last.slice(0, 300)}` }
}
