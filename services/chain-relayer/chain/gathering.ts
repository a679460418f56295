import type { Clock } from '#shared/clock'
import { pause } from '#shared/deadline'

/** Four fifths of a block's time: five requests in four blocks. */
export const gatherMs = ({ pollMs }: { readonly pollMs: number }): number => (pollMs * 4) / 5

/**
 * Resolves when it is time to read: at once, or `everyMs` after those who read last, together with
 * all who wait by then. So however many read, their calls share one request in that time.
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
