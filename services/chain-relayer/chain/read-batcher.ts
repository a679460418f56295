import type { Clock } from '#platform/clock'
import { pause } from '#platform/deadline'

export type ReadTimes = {
  /** Interval between reads under load, in ms. */
  readonly readsEveryMs: number
  /** Time after a read in which other callers may join the next one, in ms. */
  readonly readsTogetherMs: number
}

/** Most reads that a quiet time saves up for later. */
const savedMax = 8

/**
 * Returns a function that resolves when the next read is due, for all callers at once, so that they share one request.
 * After a quiet moment the first caller reads at once.
 */
export function openReadBatcher(
  { readsEveryMs: everyMs, readsTogetherMs: shareMs }: ReadTimes,
  clock: Clock,
): () => Promise<void> {
  let lastAt = Number.NEGATIVE_INFINITY
  /** Time when the budget of one read per `everyMs` has covered all reads so far. */
  let paidAt = Number.NEGATIVE_INFINITY
  let waiting: Promise<void> | undefined
  const wait = async () => {
    const now = clock()
    const budgetAt = paidAt - savedMax * everyMs
    await pause(Math.min(everyMs, Math.max(0, lastAt + shareMs - now, budgetAt - now)))
    lastAt = clock()
    paidAt = Math.min(Math.max(paidAt, lastAt), lastAt + savedMax * everyMs) + everyMs
    waiting = undefined
  }
  return () => {
    waiting ??= wait()
    return waiting
  }
}
