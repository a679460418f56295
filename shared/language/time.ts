import { type Language, locales } from '#shared/language/language'
import { dayEndMs } from '#shared/money/day'
import type { Pair } from '#shared/money/pair'

/**
 * Zones per language: English names UTC, as the interface does, and the others the zone of their banks. None has
 * daylight saving time.
 */
const zones = {
  en: { timeZone: 'UTC', joint: ', ', clock: (time: string) => `${time} UTC` },
  id: { timeZone: 'Asia/Jakarta', joint: ' pukul ', clock: (time: string) => `${time.replaceAll(':', '.')} WIB` },
  ms: { timeZone: 'Asia/Kuala_Lumpur', joint: ', ', clock: (time: string) => `${time} waktu Malaysia` },
} as const satisfies Record<Language, object>

const formatOf = (language: Language) =>
  new Intl.DateTimeFormat(locales[language], {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: zones[language].timeZone,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
const formats = { en: formatOf('en'), id: formatOf('id'), ms: formatOf('ms') }

const lastMs = 8_640_000_000_000_000

/**
 * Writes a time, rounded down so that it is never after `ms`: `24 December 2026, 07:00 UTC`, `24 Desember 2026 pukul
 * 14.00 WIB`, `24 Disember 2026, 15:00 waktu Malaysia`.
 */
export function timeText(ms: number, language: Language, to: 'minute' | 'second' = 'minute') {
  const { day, clock } = partsOf(ms, language, to)
  return `${day}${zones[language].joint}${clock}`
}

function partsOf(ms: number, language: Language, to: 'minute' | 'second') {
  const parts = formats[language].formatToParts(new Date(Math.min(ms, lastMs)))
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value
  const time = [of('hour'), of('minute'), ...(to === 'second' ? [of('second')] : [])].join(':')
  return { day: `${of('day')} ${of('month')} ${of('year')}`, clock: zones[language].clock(time) }
}

/** In English, which is not the language of one of the countries, the day ends at midnight somewhere. */
const midnightIn: Readonly<Record<Pair, string>> = {
  'USD/IDR': 'midnight in Jakarta',
  'USD/MYR': 'in Kuala Lumpur for ringgit',
}
const someMs = Date.UTC(2026, 0, 1)
const endOfDay = (pair: Pair) => {
  const clockIn = (language: Language) => partsOf(dayEndMs(pair, someMs), language, 'minute').clock
  return { en: midnightIn[pair], id: clockIn('id'), ms: clockIn('ms') }
}

/** End of a day of the limits, midnight in Jakarta, in the zone of each language: `00.00 WIB`, `01:00 waktu Malaysia`. */
export const midnight = endOfDay('USD/IDR')

/** End of a day of the limits on payments in ringgit: `23.00 WIB`, `00:00 waktu Malaysia`. */
export const midnightOfRinggit = endOfDay('USD/MYR')
