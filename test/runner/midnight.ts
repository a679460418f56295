import { pause } from '#platform/deadline'

const dayMs = 86_400_000
/** Longer than a test of a limit of a day takes. */
const beforeMs = 30_000
/** Some tests store a time of a second ago as one of the same day. */
const afterMs = 5_000

/** How long (ms) to wait until `now` is far enough from midnight UTC, when limits of a day restart. */
export const untilDayLasts = (now: number): number => {
  const sinceMs = (now + beforeMs) % dayMs
  return sinceMs < beforeMs + afterMs ? beforeMs + afterMs - sinceMs : 0
}

export function waitForDay(): Promise<void> | undefined {
  const ms = untilDayLasts(Date.now())
  return ms > 0 ? pause(ms) : undefined
}
