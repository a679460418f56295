export type ProviderCurrency = 'IDR' | 'MYR'

const decimals: Record<ProviderCurrency, number> = { IDR: 0, MYR: 2 }

/** Converts to minor units. Returns null if the amount is negative, not finite, or has too many decimals. */
export function minorFromMajor(amount: number, currency: ProviderCurrency): bigint | null {
  // The shortest decimal text of the number is exact for every amount that a bank transfers.
  const match = /^(\d+)(?:\.(\d+))?$/.exec(String(amount))
  if (!match) return null
  const [, whole = '0', fraction = ''] = match
  if (fraction.length > decimals[currency]) return null
  return BigInt(whole + fraction.padEnd(decimals[currency], '0'))
}

export const majorFromMinor = (amountMinor: bigint, currency: ProviderCurrency): number =>
  Number(plainText(amountMinor, currency))

/** Formats an amount: `Rp 50.000`, `RM 1,234.50`. */
export function formatMoney(amountMinor: bigint, currency: ProviderCurrency): string {
  const [whole = '0', fraction] = plainText(amountMinor, currency).split('.')
  const separator = currency === 'IDR' ? '.' : ','
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, separator)
  return currency === 'IDR' ? `Rp ${grouped}` : `RM ${grouped}.${fraction}`
}

function plainText(amountMinor: bigint, currency: ProviderCurrency): string {
  const places = decimals[currency]
  if (places === 0) return amountMinor.toString()
  const digits = amountMinor.toString().padStart(places + 1, '0')
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`
}
