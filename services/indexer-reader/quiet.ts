import type { Clock } from '#shared/clock'
import type { Span } from './chain/span'

/** So long blocks without an event may be read and not noted. */
const restMs = 1_000

/**
 * Blocks at the head that hold nothing of ours: most do, and noting each is all that a system at
 * rest would write. They are noted together, or with the next event; a process that ends before
 * reads them again.
 */
export function openQuiet(clock: Clock) {
  let spans: readonly Span[] = []
  let notedAt = clock()
  return {
    isEmpty: () => spans.length === 0,
    isDue: () => spans.length > 0 && clock() - notedAt >= restMs,
    /** Keeps blocks without an event to be noted later; false when it is time to note them. */
    keep: (more: readonly Span[]): boolean => {
      if (clock() - notedAt >= restMs) return false
      spans = [...spans, ...more]
      return true
    },
    /** What is to be noted now: what was kept, and what follows it. */
    take: (more: readonly Span[]): Span[] => {
      const all = [...spans, ...more]
      spans = []
      notedAt = clock()
      return all
    },
    /** Where reading goes on is read from the rows again. */
    forget: () => {
      spans = []
    },
  }
}
