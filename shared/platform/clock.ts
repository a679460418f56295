/** Unix ms. Passed in, so that tests can set it. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/** Unix ms from the start of the process on, whoever sets the clock of the machine. */
export const steadyClock: Clock = () => performance.timeOrigin + performance.now()

/** Also counts from a time in the future: the clock was set back since, and would keep it new for long. */
export const ageMs = (at: Date | number, now: number): number => Math.abs(now - Number(at))

export const isRecent = (at: Date | number, now: number, withinMs: number): boolean =>
  ageMs(at, now) < withinMs

/** Rounded down: the unit of chain times and of sign-in. */
export const toUnixSeconds = (unixMs: number): number => Math.floor(unixMs / 1000)
