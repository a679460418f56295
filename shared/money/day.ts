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

/**
 * Returns the start of a day that is written `2026-11-24`, in unix ms, in the country of the money. Returns undefined if
 * the calendar has no such day, and for a year that Postgres or ISO 8601 may not be able to write in every zone.
 */
export function namedDayStartMs(pair: Pair, day: string): number | undefined {
  const midnightUtc = /^[12]\d{3}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN
  // `Date.parse` takes 30 February for 2 March.
  if (Number.isNaN(midnightUtc) || new Date(midnightUtc).toISOString().slice(0, 10) !== day) return undefined
  return midnightUtc - countryBy('pair', pair).utcOffsetHours * hourMs
}

/** Writes the date of `atMs` (unix ms) at an offset from UTC, `2026-11-24`. */
export const dateAt = (utcOffsetHours: number, atMs: number): string =>
  new Date(atMs + utcOffsetHours * hourMs).toISOString().slice(0, 10)

/** Writes the day of `atMs` in the country of the money, `2026-11-24`. */
export const dayName = (pair: Pair, atMs: number): string => dateAt(countryBy('pair', pair).utcOffsetHours, atMs)

/** Writes a time as ISO 8601 in the zone of the country of the money, `2026-11-24T10:00:00.000+07:00`. */
export function zonedText(pair: Pair, atMs: number): string {
  const { utcOffsetHours } = countryBy('pair', pair)
  const local = new Date(atMs + utcOffsetHours * hourMs).toISOString()
  return local.replace('Z', `+${String(utcOffsetHours).padStart(2, '0')}:00`)
}

/** Returns the end of that day, in unix ms. */
export const dayEndMs = (pair: Pair, nowMs: number): number => dayStartMs(pair, nowMs) + dayMs
