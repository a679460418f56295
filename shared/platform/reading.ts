import { type Clock, isRecent } from '#platform/clock'
import { within } from '#platform/deadline'

/** A value from outside. It includes everything that happened there by `readAt`. */
type Read = { readonly readAt: Date }

export type Reading<T extends Read> = {
  /** Reads; concurrent calls share one read. Does not throw, if `read` does not. */
  readonly refresh: () => Promise<void>
  /** Reads if the last value is not fresh. Returns undefined if no value is recent enough to promise from. */
  readonly current: () => Promise<T | undefined>
  /** Returns the last value, of any age. */
  readonly last: () => T | undefined
}

type Means<T> = {
  /** Returns undefined if the outside did not answer; then the last value stays. */
  readonly read: () => Promise<T | undefined>
  readonly clock: Clock
  /** Age in ms above which `current` reads first. */
  readonly freshMs: number
  /** Age in ms above which `current` returns nothing. */
  readonly maxMs: number
  /** Longest wait of `current` for a new value, in ms. */
  readonly waitMaxMs: number
}

/** Keeps the last value of something that is read again and again. */
export function openReading<T extends Read>({ read, clock, freshMs, maxMs, waitMaxMs }: Means<T>): Reading<T> {
  let last: T | undefined
  /** Time of the read by the clock of this instance; that of the reader may be ahead. */
  let lastAtMs = 0
  let reading: Promise<void> | undefined
  const readOnce = async () => {
    const found = await read()
    if (!found) return
    last = found
    lastAtMs = Math.min(found.readAt.getTime(), clock())
  }
  const refresh = () => {
    reading ??= readOnce().finally(() => {
      reading = undefined
    })
    return reading
  }
  const youngerThan = (ms: number) => (last && isRecent(lastAtMs, clock(), ms) ? last : undefined)
  return {
    refresh,
    current: async () => {
      if (!youngerThan(freshMs)) await within(refresh(), waitMaxMs, 'the reading').catch(() => {})
      // guard: a stale treasury balance covers nothing
      return youngerThan(maxMs)
    },
    last: () => last,
  }
}
