import { pause } from '#platform/deadline'

/**
 * Longest wait for a lock in ms, less than that of the services (`openDatabase`): whoever needs the table meanwhile waits
 * behind it.
 */
export const lockTimeoutMs = 1_000
/** Time in ms in which those who waited take their turn. */
const turnMs = 1_000
/** Time in ms after which a lock is given up. A comparison of all books may read for minutes. */
const givesUpMs = 300_000

/** SQLSTATEs of a lock that was not had in time, and of a deadlock. */
const lockedCodes: ReadonlySet<string> = new Set(['55P03', '40P01'])

type Refused = { readonly code?: unknown; readonly cause?: Refused } | undefined
const isLocked = (error: Refused): boolean =>
  error !== undefined && (lockedCodes.has(String(error.code)) || isLocked(error.cause))

/** Repeats work that is undone as a whole if a table is in use, until it is free. */
export async function untilUnlocked<T>(work: () => PromiseLike<T>): Promise<T> {
  const startedMs = performance.now()
  for (;;) {
    try {
      return await work()
    } catch (cause) {
      if (!isLocked(cause as Refused)) throw cause
      if (performance.now() - startedMs > givesUpMs)
        throw new Error('a table stayed in use: end what uses it (pg_stat_activity), then migrate again', { cause })
      await pause(turnMs)
    }
  }
}
