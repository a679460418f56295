import { type Language, locales } from '#shared/language/language'

/** English names UTC, as the interface does; the others their banks' zone. None has daylight saving time. */
const zones = {
  en: {
    timeZone: 'UTC',
    form: (day: string, time: string) => `${day}, ${time} UTC`,
  },
  id: {
    timeZone: 'Asia/Jakarta',
    form: (day: string, time: string) => `${day} pukul ${time.replaceAll(':', '.')} WIB`,
  },
  ms: {
    timeZone: 'Asia/Kuala_Lumpur',
    form: (day: string, time: string) => `${day}, ${time} waktu Malaysia`,
  },
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
 * Rounded down, never after `ms`: `24 December 2026, 07:00 UTC`, `24 Desember 2026 pukul 14.00 WIB`, `24
 * Disember 2026, 15:00 waktu Malaysia`.
 */
export function timeText(ms: number, language: Language, to: 'minute' | 'second' = 'minute') {
  const parts = formats[language].formatToParts(new Date(Math.min(ms, lastMs)))
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value
  const time = [of('hour'), of('minute'), ...(to === 'second' ? [of('second')] : [])].join(':')
  return zones[language].form(`${of('day')} ${of('month')} ${of('year')}`, time)
}
