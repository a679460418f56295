import type { Clock } from '#platform/clock'
import { pause } from '#platform/deadline'

/** Returns the interval between reads, four fifths of a block time: five reads in four blocks. */
export const gatherMs = ({ pollMs }: { readonly pollMs: number }): number => (pollMs * 4) / 5

/**
 * Returns a function that resolves when the next read is due: at once, or `everyMs` after the last
 * one, for all waiting callers together. So all their calls share one request per interval.
 */
export function openGathering(everyMs: number, clock: Clock): () => Promise<void> {
  let nextAt = 0
  let waiting: Promise<void> | undefined
  const wait = async () => {
    await pause(Math.min(everyMs, Math.max(0, nextAt - clock())))
    nextAt = clock() + everyMs
    waiting = undefined
  }
  return () => {
    waiting ??= wait()
    return waiting
  }
}
