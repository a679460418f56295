import type { Clock } from '#platform/clock'
import { pause } from '#platform/deadline'

/** When questions of users may read the chain. */
export type ReadTimes = {
  /** Interval between reads under load, in ms. */
  readonly readsEveryMs: number
  /** Wait after a read for others to share the next one, in ms: about as long as a read takes. */
  readonly readsTogetherMs: number
}

/** Reads that a quiet time saves up, to be made without the interval. */
const savedMax = 8

/**
 * Returns a function that resolves when the next read is due, for all waiting callers together, so
 * that all their calls share one request. The first caller after a quiet moment reads at once, and
 * later ones as soon as the budget has a read left.
 */
export function openGathering(
  { readsEveryMs: everyMs, readsTogetherMs: togetherMs }: ReadTimes,
  clock: Clock,
): () => Promise<void> {
  let lastAt = Number.NEGATIVE_INFINITY
  /** When every read so far is paid for, at one per `everyMs`. */
  let paidAt = Number.NEGATIVE_INFINITY
  let waiting: Promise<void> | undefined
  const wait = async () => {
    const now = clock()
    const budgetAt = paidAt - savedMax * everyMs
    await pause(Math.min(everyMs, Math.max(0, lastAt + togetherMs - now, budgetAt - now)))
    lastAt = clock()
    paidAt = Math.min(Math.max(paidAt, lastAt), lastAt + savedMax * everyMs) + everyMs
    waiting = undefined
  }
  return () => {
    waiting ??= wait()
    return waiting
  }
}
