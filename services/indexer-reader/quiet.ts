import type { Clock } from '#shared/clock'
import type { Span } from './chain/span'

/** How long blocks without an event may stay unstored. */
const restMs = 1_000

/**
 * Buffers blocks without our events. Most blocks have none, and storing each would be the only
 * writes of an idle system. They are stored together or with the next event; after a restart they
 * are read again.
 */
export function openQuiet(clock: Clock) {
  let spans: readonly Span[] = []
  let notedAt = clock()
  return {
    isEmpty: () => spans.length === 0,
    isDue: () => spans.length > 0 && clock() - notedAt >= restMs,
    /** Buffers blocks without an event; returns false if it is time to store them. */
    keep: (more: readonly Span[]): boolean => {
      if (clock() - notedAt >= restMs) return false
      spans = [...spans, ...more]
      return true
    },
    /** Returns all blocks to store now: the buffered ones and those that follow. */
    take: (more: readonly Span[]): Span[] => {
      const all = [...spans, ...more]
      spans = []
      notedAt = clock()
      return all
    },
    /** Drops the buffer; reading resumes from the stored cursor. */
    forget: () => {
      spans = []
    },
  }
}
