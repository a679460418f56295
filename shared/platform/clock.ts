/** Returns Unix milliseconds. Passed in wherever time matters, so that tests can set it. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/** Unix seconds, rounded down: the unit of chain times and of sign-in. */
export const toUnixSeconds = (unixMs: number): number => Math.floor(unixMs / 1000)
