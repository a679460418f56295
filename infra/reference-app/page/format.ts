import { type Language, languages } from '#shared/client/client'
import { type Currency, decimals } from '#shared/money/money'

const locales = { en: 'en-GB', id: 'id-ID', ms: 'ms-MY' } as const satisfies Record<
  Language,
  string
>
const marks: Record<Language, { readonly decimal: string; readonly group: string }> = {
  en: { decimal: '.', group: ',' },
  id: { decimal: ',', group: '.' },
  ms: { decimal: '.', group: ',' },
}
/** Decimals that are always shown. */
const decimalsShown: Readonly<Record<Currency, number>> = { AUSD: 2, IDR: 0, MYR: 2 }

/** Returns the language of the page: the stored one, or the first one that the browser prefers. */
export function languageOf(stored: string | null, preferred: readonly string[]): Language {
  const wanted = [stored ?? '', ...preferred].map((tag) => tag.slice(0, 2).toLowerCase())
  return wanted.flatMap((tag) => languages.find((one) => one === tag) ?? [])[0] ?? 'en'
}

/**
 * Writes a decimal number, divided by 10 to the power of `places`, exactly: digits are moved, never computed.
 * At least `shown` decimals; further zeros are left out.
 */
function decimalText(number: string, places: number, shown: number, language: Language): string {
  const [whole = '', fraction = ''] = number.split('.')
  const digits = whole.padStart(places + 1, '0')
  const point = digits.length - places
  const rest = `${digits.slice(point)}${fraction}`.replace(/0+$/, '').padEnd(shown, '0')
  const { decimal, group } = marks[language]
  const grouped = digits.slice(0, point).replace(/\B(?=(\d{3})+$)/g, group)
  return rest === '' ? grouped : `${grouped}${decimal}${rest}`
}

const majorText = (minor: string, currency: Currency, language: Language): string =>
  decimalText(minor, decimals[currency], decimalsShown[currency], language)

/**
 * Writes an amount in the smallest unit of its currency, as in `Rp 50,000` or `1.50 AUSD`. A rate, which is such
 * an amount for a dollar, may have decimals of its own.
 */
export function moneyText(minor: string, currency: Currency, language: Language): string {
  const number = majorText(minor, currency, language)
  if (currency === 'AUSD') return `${number}\u00a0AUSD`
  return `${currency === 'IDR' ? 'Rp' : 'RM'}\u00a0${number}`
}

/** Writes hundredths of a percent as a percentage. */
export const percentText = (bps: number | string, language: Language): string =>
  `${decimalText(String(bps), 2, 0, language)}%`

/**
 * Reads an amount as the user types it, in the smallest unit. Returns undefined unless it can be read in
 * exactly one way: `1.500` is 1500 in Indonesian and 1.5 in English, and `1.50` is no Indonesian number.
 */
export function parseAmount(
  text: string,
  currency: Currency,
  language: Language,
): string | undefined {
  const places = decimals[currency]
  const { decimal, group } = marks[language]
  const number = new RegExp(
    `^(\\d+|\\d{1,3}(?:\\${group}\\d{3})+)${places > 0 ? `(?:\\${decimal}(\\d{1,${places}}))?` : ''}$`,
  ).exec(text.trim())
  if (!number) return undefined
  const [, whole = '', fraction = ''] = number
  return `${whole.replaceAll(group, '')}${fraction.padEnd(places, '0')}`.replace(/^0+(?=\d)/, '')
}

/** Example of an amount as the language writes it, for the hint of a field. */
export const amountExample = (currency: Currency, language: Language): string =>
  majorText({ AUSD: '2500000', IDR: '500000', MYR: '5000' }[currency], currency, language)

/** Writes a time in the time zone of the browser, and names it. Takes ISO 8601 or unix seconds, as the interface has both. */
export const timeText = (time: string, language: Language): string =>
  new Intl.DateTimeFormat(locales[language], { dateStyle: 'medium', timeStyle: 'long' }).format(
    /^\d+$/.test(time) ? Number(time) * 1_000 : Date.parse(time),
  )

/** Writes a duration in its largest whole unit. */
export function durationText(seconds: number, language: Language): string {
  const sizes = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const
  const [unit, size] = sizes.find(([, one]) => seconds >= one) ?? (['second', 1] as const)
  const value = Math.round(seconds / size)
  const style = { style: 'unit', unit, unitDisplay: 'long' } as const
  return new Intl.NumberFormat(locales[language], style).format(value)
}

/** Dollars for an amount in local currency at a rate, in 10⁻⁶ AUSD, rounded down; the gateway's answer decides. */
export const ausdFor = (minor: string, rate: string): string =>
  ((BigInt(minor) * 1_000_000n) / BigInt(rate)).toString()

/** Local currency for an amount of AUSD at a rate. A payout is rounded down, a charge up. */
export function fiatFor(micro: string, rate: string, rounding: 'down' | 'up'): string {
  const product = BigInt(micro) * BigInt(rate)
  return ((product + (rounding === 'up' ? 999_999n : 0n)) / 1_000_000n).toString()
}
