const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Delays before the first retries. */
const firstMs = [5_000, 30_000, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs]
/** Delay before each later retry. An endpoint that is back gets everything within it. */
export const laterMs = hourMs
/** Number of attempts, which take three days. */
export const attemptsMax = firstMs.length + (3 * 24 * hourMs) / laterMs

/** Returns the delay before the attempt that follows `attempts` failed ones. Undefined if none follows. */
export const retryAfter = (attempts: number): number | undefined =>
  attempts >= attemptsMax ? undefined : (firstMs[attempts - 1] ?? laterMs)
