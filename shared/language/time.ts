import { type Language, locales } from '#shared/language/language'
import { countries } from '#shared/money/countries'
import { dateAt, dayEndMs } from '#shared/money/day'
import type { Pair } from '#shared/money/pair'

/** Zones in which times are written. None has daylight saving time. */
export type Zone = 'UTC' | (typeof countries)[number]['timeZone']

/** Zones of readers whose country is unknown or another one: English names UTC, as the interface does. */
const zonesByLanguage = { en: 'UTC', id: 'Asia/Jakarta', ms: 'Asia/Kuala_Lumpur' } as const

/** Returns the zone in which a user reads every time: that of their country (ISO 3166-1), or else of the language. */
export const zoneOf = (country: string | null | undefined, language: Language): Zone =>
  countries.find((one) => one.country === country)?.timeZone ?? zonesByLanguage[language]

const zoneNames: Readonly<Record<Zone, Readonly<Record<Language, string>>>> = {
  UTC: { en: 'UTC', id: 'UTC', ms: 'UTC' },
  'Asia/Jakarta': { en: 'WIB', id: 'WIB', ms: 'WIB' },
  'Asia/Kuala_Lumpur': { en: 'MYT', id: 'waktu Malaysia', ms: 'waktu Malaysia' },
}
const joints = { en: ', ', id: ' pukul ', ms: ', ' } as const

const formats = new Map<string, Intl.DateTimeFormat>()
function formatOf(language: Language, timeZone: Zone): Intl.DateTimeFormat {
  const name = `${language} ${timeZone}`
  const format =
    formats.get(name) ??
    new Intl.DateTimeFormat(locales[language], {
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    })
  formats.set(name, format)
  return format
}

const lastMs = 8_640_000_000_000_000

/**
 * Writes a time (unix ms), rounded down so that it is never after `ms`: `24 December 2026, 07:00 UTC`, `24 Desember 2026
 * pukul 14.00 WIB`, `24 Disember 2026, 15:00 waktu Malaysia`. Sentences, rows, receipts and the reference app have this
 * one form, so that the same time always reads the same.
 */
export function timeText(
  ms: number,
  language: Language,
  { zone = zoneOf(null, language), to = 'minute' }: { zone?: Zone; to?: 'minute' | 'second' } = {},
): string {
  const { day, clock } = partsOf(ms, language, zone, to)
  return `${day}${joints[language]}${clock}`
}

/** Writes the day of a time (unix ms): `24 December 2026`. */
export const dayText = (ms: number, language: Language, zone: Zone): string => partsOf(ms, language, zone).day

const hourMs = 3_600_000
const offsetHoursOf = (zone: Zone): number => countries.find(({ timeZone }) => timeZone === zone)?.utcOffsetHours ?? 0

/** Returns the date of a time (unix ms) in a zone, as `2026-11-28`. */
export const dateIn = (zone: Zone, ms: number): string => dateAt(offsetHoursOf(zone), ms)

/** Returns the midnight (unix ms) with which a date such as `2026-11-28` begins in a zone. NaN if the text is no date. */
export const dateStartMs = (zone: Zone, date: string): number =>
  Date.parse(`${date}T00:00:00Z`) - offsetHoursOf(zone) * hourMs

function partsOf(ms: number, language: Language, zone: Zone, to: 'minute' | 'second' = 'minute') {
  const parts = formatOf(language, zone).formatToParts(new Date(Math.min(ms, lastMs)))
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value
  const digits = [of('hour'), of('minute'), ...(to === 'second' ? [of('second')] : [])]
  const time = digits.join(language === 'id' ? '.' : ':')
  return { day: `${of('day')} ${of('month')} ${of('year')}`, clock: `${time} ${zoneNames[zone][language]}` }
}

/** In English, which is not the language of one of the countries, the day ends at midnight somewhere. */
const midnightIn: Readonly<Record<Pair, string>> = {
  'USD/IDR': 'midnight in Jakarta',
  'USD/MYR': 'in Kuala Lumpur for ringgit',
}
const someMs = Date.UTC(2026, 0, 1)
const endOfDay = (pair: Pair) => {
  const clockIn = (language: Language) => partsOf(dayEndMs(pair, someMs), language, zoneOf(null, language)).clock
  return { en: midnightIn[pair], id: clockIn('id'), ms: clockIn('ms') }
}

/** End of a day of the limits, midnight in Jakarta, in the zone of each language: `00.00 WIB`, `01:00 waktu Malaysia`. */
export const midnight = endOfDay('USD/IDR')

/** End of a day of the limits on payments in ringgit: `23.00 WIB`, `00:00 waktu Malaysia`. */
export const midnightOfRinggit = endOfDay('USD/MYR')
