import { pause } from '#platform/deadline'

const dayMs = 86_400_000
/** Time in ms before midnight, longer than a test of a daily limit takes. */
const beforeMs = 30_000
/** Time in ms after midnight, because some tests store a time of a second ago as one of the same day. */
const afterMs = 5_000

/** Returns how long to wait, in ms, until `now` is far enough from midnight UTC, when daily limits restart. */
export const untilDayLasts = (now: number): number => {
  const sinceMs = (now + beforeMs) % dayMs
  return sinceMs < beforeMs + afterMs ? beforeMs + afterMs - sinceMs : 0
}

export function waitForDay(): Promise<void> | undefined {
  const ms = untilDayLasts(Date.now())
  return ms > 0 ? pause(ms) : undefined
}
