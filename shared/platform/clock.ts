/** Time in Unix ms. It is passed in, so that tests can set it. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/** Time in Unix ms, counted on from the start of the process, so that setting the machine's clock does not move it. */
export const steadyClock: Clock = () => performance.timeOrigin + performance.now()

/**
 * Returns true if the time is past by at most `withinMs`. It is false for a time in the future, which a clock that was
 * set back would keep recent for long.
 */
export const isRecent = (at: number, now: number, withinMs: number): boolean => at <= now && now - at < withinMs

/** Returns the age of a stored time in ms. Another clock may have put that time a moment into the future. */
export const ageMs = (at: Date | number, now: number): number => Math.abs(now - Number(at))

/** Converts to Unix seconds, rounded down. */
export const toUnixSeconds = (unixMs: number): number => Math.floor(unixMs / 1000)
