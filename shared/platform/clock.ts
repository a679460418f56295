/** Unix ms. Passed in, so that tests can set it. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/** Unix ms, counted on from the start of the process, so that setting the machine's clock does not move it. */
export const steadyClock: Clock = () => performance.timeOrigin + performance.now()

/** False for a time in the future, which a clock that was set back would keep recent for long. */
export const isRecent = (at: number, now: number, withinMs: number): boolean => at <= now && now - at < withinMs

/** Of a stored time, which another clock may have put a moment into the future. */
export const ageMs = (at: Date | number, now: number): number => Math.abs(now - Number(at))

/** Rounded down. */
export const toUnixSeconds = (unixMs: number): number => Math.floor(unixMs / 1000)
