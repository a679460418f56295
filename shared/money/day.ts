import { countryBy } from './countries'
import type { Pair } from './pair'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Pair of the country whose days count for everything that is not about money of one country. */
export const homePair: Pair = 'USD/IDR'

/**
 * Returns the start of the day of `nowMs`, in unix ms, as the limits count it: in the country of the money. Its zone does
 * not depend on the user, who could otherwise begin a new day by a change of country.
 */
export function dayStartMs(pair: Pair, nowMs: number): number {
  const offsetMs = countryBy('pair', pair).utcOffsetHours * hourMs
  return Math.floor((nowMs + offsetMs) / dayMs) * dayMs - offsetMs
}

/** Returns the end of that day, in unix ms. */
export const dayEndMs = (pair: Pair, nowMs: number): number => dayStartMs(pair, nowMs) + dayMs
