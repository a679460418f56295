/** Unix milliseconds. An argument everywhere time matters, so that tests decide what time it is. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/** Unix seconds, rounded down: the unit of chain times and of sign-in. */
export const toUnixSeconds = (unixMs: number): number => Math.floor(unixMs / 1000)
