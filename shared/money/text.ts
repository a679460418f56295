import { decimals } from '#shared/money/money'

const places: Readonly<Record<string, number>> = { ...decimals, MON: 18 }
const signs: Readonly<Record<string, string>> = { IDR: 'Rp', MYR: 'RM' }

/** Formats an amount in major units of its asset: 3076923 of AUSD is 3.076923. */
export function amountText(amount: bigint, asset: string): string {
  const count = places[asset] ?? 0
  const digits = String(amount < 0n ? -amount : amount).padStart(count + 1, '0')
  const whole = digits.slice(0, digits.length - count).replace(/\B(?=(\d{3})+$)/g, ',')
  const fraction = count === 0 ? '' : `.${digits.slice(-count)}`
  return `${amount < 0n ? '-' : ''}${whole}${fraction}`
}

/**
 * Formats an amount with its unit: `Rp 50,000`, `RM 5.00`, `3.076923 AUSD`. Also accepts an Amount
 * of the interface.
 */
export function moneyText(amount: bigint | string, asset: string): string {
  const text = amountText(BigInt(amount), asset)
  const sign = signs[asset]
  return sign ? `${sign} ${text}` : `${text} ${asset}`
}
