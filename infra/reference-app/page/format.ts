/** Languages of the page; the gateway answers `error` and `sentence` in the same one. */
export const languages = ['en', 'id', 'ms'] as const
export type Language = (typeof languages)[number]
export type Currency = 'AUSD' | 'IDR' | 'MYR'

const locales = { en: 'en-GB', id: 'id-ID', ms: 'ms-MY' } as const satisfies Record<
  Language,
  string
>
const marks: Record<Language, { readonly decimal: string; readonly group: string }> = {
  en: { decimal: '.', group: ',' },
  id: { decimal: ',', group: '.' },
  ms: { decimal: '.', group: ',' },
}
/** Decimals of the amounts of the interface, and how many of them are always shown. */
const units = {
  AUSD: { decimals: 6, shown: 2 },
  IDR: { decimals: 0, shown: 0 },
  MYR: { decimals: 2, shown: 2 },
} as const satisfies Record<Currency, { decimals: number; shown: number }>

/** Returns the language of the page: the stored one, or the first one that the browser prefers. */
export function languageOf(stored: string | null, preferred: readonly string[]): Language {
  const wanted = [stored ?? '', ...preferred].map((tag) => tag.slice(0, 2).toLowerCase())
  return wanted.flatMap((tag) => languages.find((one) => one === tag) ?? [])[0] ?? 'en'
}

/**
 * Writes a decimal number, divided by 10 to the power of `decimals`, exactly: digits are moved, never
 * computed. At least `shown` decimals; further zeros are left out.
 */
function decimalText(number: string, decimals: number, shown: number, language: Language): string {
  const [whole = '', fraction = ''] = number.split('.')
  const digits = whole.padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const rest = `${digits.slice(point)}${fraction}`.replace(/0+$/, '').padEnd(shown, '0')
  const { decimal, group } = marks[language]
  const grouped = digits.slice(0, point).replace(/\B(?=(\d{3})+$)/g, group)
  return rest === '' ? grouped : `${grouped}${decimal}${rest}`
}

/** Writes an amount in the smallest unit of its currency, as in `Rp 50,000` or `1.50 AUSD`. */
export function moneyText(minor: string, currency: Currency, language: Language): string {
  const { decimals, shown } = units[currency]
  const number = decimalText(minor, decimals, shown, language)
  if (currency === 'AUSD') return `${number}\u00a0AUSD`
  return `${currency === 'IDR' ? 'Rp' : 'RM'}\u00a0${number}`
}

/** Writes a rate, which is in smallest units of the currency per dollar and may have decimals. */
export const rateText = (rate: string, currency: 'IDR' | 'MYR', language: Language): string => {
  const { decimals, shown } = units[currency]
  return `${currency === 'IDR' ? 'Rp' : 'RM'}\u00a0${decimalText(rate, decimals, shown, language)}`
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
  const { decimals } = units[currency]
  const { decimal, group } = marks[language]
  const number = new RegExp(
    `^(\\d+|\\d{1,3}(?:\\${group}\\d{3})+)${decimals > 0 ? `(?:\\${decimal}(\\d{1,${decimals}}))?` : ''}$`,
  ).exec(text.trim())
  if (!number) return undefined
  const [, whole = '', fraction = ''] = number
  return `${whole.replaceAll(group, '')}${fraction.padEnd(decimals, '0')}`.replace(/^0+(?=\d)/, '')
}

/** Example of an amount as the language writes it, for the hint of a field. */
export const amountExample = (currency: Currency, language: Language): string =>
  ({
    AUSD: decimalText('2500000', 6, 2, language),
    IDR: decimalText('500000', 0, 0, language),
    MYR: decimalText('5000', 2, 2, language),
  })[currency]

/** Writes a time in the time zone of the browser. Takes ISO 8601 or unix seconds, as the interface has both. */
export const timeText = (time: string, language: Language): string =>
  new Intl.DateTimeFormat(locales[language], { dateStyle: 'medium', timeStyle: 'short' }).format(
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
