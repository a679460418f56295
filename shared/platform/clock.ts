/** Unix ms. Passed in, so that tests can set it. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/** Unix ms from the start of the process on, whoever sets the clock of the machine. */
export const steadyClock: Clock = () => performance.timeOrigin + performance.now()

/** False for a time in the future: the clock was set back since, and would keep it recent for long. */
export const isRecent = (at: number, now: number, withinMs: number): boolean =>
  at <= now && now - at < withinMs

/** Of a stored time, which another clock may have put a moment into the future: a clock that was set back ages it. */
export const ageMs = (at: Date | number, now: number): number => Math.abs(now - Number(at))

/** Rounded down: the unit of chain times and of sign-in. */
export const toUnixSeconds = (unixMs: number): number => Math.floor(unixMs / 1000)
