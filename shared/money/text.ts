import type { Language } from '#shared/language/language'
import { decimals } from '#shared/money/money'

const places: Readonly<Record<string, number>> = { ...decimals, MON: 18 }
export const signs: Readonly<Record<string, string>> = { IDR: 'Rp', MYR: 'RM' }

export const separators = {
  en: [',', '.'],
  id: ['.', ','],
  ms: [',', '.'],
} as const satisfies Record<Language, readonly [string, string]>

/** Puts a separator between each three digits: `1,234,567`. */
export const groupDigits = (digits: string, separator: string): string => digits.replace(/\B(?=(\d{3})+$)/g, separator)

/**
 * Divides by 10 to the power of `places` exactly, since digits are moved and never computed. It writes at least `shown`
 * decimals and leaves out further zeros.
 */
export function decimalText(number: string, places: number, language: Language, shown = places): string {
  const [thousands, decimal] = separators[language]
  const [integer = '', fraction = ''] = number.split('.')
  const digits = integer.padStart(places + 1, '0')
  const point = digits.length - places
  const whole = groupDigits(digits.slice(0, point), thousands)
  const rest = `${digits.slice(point)}${fraction}`.replace(/0+$/, '').padEnd(shown, '0')
  return rest === '' ? whole : `${whole}${decimal}${rest}`
}

/** Writes an amount in major units: 3076923 of AUSD is 3.076923, in Indonesian 3,076923. */
export function amountText(amount: bigint, asset: string, language: Language = 'en'): string {
  const number = String(amount < 0n ? -amount : amount)
  return `${amount < 0n ? '-' : ''}${decimalText(number, places[asset] ?? 0, language)}`
}

/**
 * Writes an amount in major units for a program that adds amounts up: exact, with a point, and without separators of
 * thousands. 1234567890000 of AUSD is 1234567.890000.
 */
export const plainAmount = (amount: bigint, asset: string): string => amountText(amount, asset).replaceAll(',', '')

/**
 * Reads an amount in major units, as `plainAmount` writes it. Returns undefined for anything but an exact decimal, also for
 * `80.000` rupiah, which is how Indonesians write 80000.
 */
export function fromPlainAmount(text: string, asset: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,24})(?:\.(\d+))?$/.exec(text) ?? []
  const shown = places[asset] ?? 0
  if (whole === undefined || fraction.length > shown) return undefined
  return BigInt(whole + fraction.padEnd(shown, '0'))
}

/** Writes an amount with its currency: `Rp 50,000`, `RM 5.00`, `3.076923 AUSD`; in Indonesian `Rp 50.000`. */
export function moneyText(amount: bigint | string, asset: string, language: Language = 'en'): string {
  const text = amountText(BigInt(amount), asset, language)
  const sign = signs[asset]
  return sign ? `${sign} ${text}` : `${text} ${asset}`
}
