import type { Language } from '#shared/language/language'
import { decimals } from '#shared/money/money'

const places: Readonly<Record<string, number>> = { ...decimals, MON: 18 }
const signs: Readonly<Record<string, string>> = { IDR: 'Rp', MYR: 'RM' }

/** Separators of thousands and of decimals. */
const separators = { en: [',', '.'], id: ['.', ','], ms: [',', '.'] } as const satisfies Record<
  Language,
  readonly [string, string]
>

/** Formats an amount in major units of its asset: 3076923 of AUSD is 3.076923, in Indonesian 3,076923. */
export function amountText(amount: bigint, asset: string, language: Language = 'en'): string {
  const [thousands, decimal] = separators[language]
  const count = places[asset] ?? 0
  const digits = String(amount < 0n ? -amount : amount).padStart(count + 1, '0')
  const whole = digits.slice(0, digits.length - count).replace(/\B(?=(\d{3})+$)/g, thousands)
  const fraction = count === 0 ? '' : `${decimal}${digits.slice(-count)}`
  return `${amount < 0n ? '-' : ''}${whole}${fraction}`
}

/**
 * Formats an amount with its unit: `Rp 50,000`, `RM 5.00`, `3.076923 AUSD`; in Indonesian
 * `Rp 50.000`. Also accepts an Amount of the interface.
 */
export function moneyText(
  amount: bigint | string,
  asset: string,
  language: Language = 'en',
): string {
  const text = amountText(BigInt(amount), asset, language)
  const sign = signs[asset]
  return sign ? `${sign} ${text}` : `${text} ${asset}`
}
