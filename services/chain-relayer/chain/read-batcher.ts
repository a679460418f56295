import type { Clock } from '#platform/clock'
import { pause } from '#platform/deadline'

export type ReadTimes = {
  /** In ms, under load. */
  readonly readsEveryMs: number
  /** Wait after a read for others to share the next, in ms. */
  readonly readsTogetherMs: number
}

/** Reads saved up in a quiet time. */
const savedMax = 8

/**
 * Resolves when the next read is due, for all callers together, so that they share one request.
 * After a quiet moment the first caller reads at once.
 */
export function openReadBatcher(
  { readsEveryMs: everyMs, readsTogetherMs: shareMs }: ReadTimes,
  clock: Clock,
): () => Promise<void> {
  let lastAt = Number.NEGATIVE_INFINITY
  /** When all reads so far are paid for, at one per `everyMs`. */
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
