const dayMs = 86_400_000
const utcOffsetMs = 8 * 3_600_000

/**
 * Returns the day of a rate that a central bank published so many days ago, such as `2026-11-24`. Today is that of Malaysia, which
 * begins first: at weekends, a market is closed in which the last rate is of the day before.
 */
export const bankDay = (daysAgo = 0): string =>
  new Date(Date.now() + utcOffsetMs - daysAgo * dayMs).toISOString().slice(0, 10)
