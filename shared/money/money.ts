/** Currencies, whose amounts are in the smallest unit: 10⁻⁶ AUSD, whole rupiah, sen. */
export const currencies = ['AUSD', 'IDR', 'MYR'] as const
export type Currency = (typeof currencies)[number]
export type Fiat = Exclude<Currency, 'AUSD'>

export type Money<C extends Currency = Currency> = { readonly minor: bigint; readonly currency: C }

export const decimals: Readonly<Record<Currency, number>> = { AUSD: 6, IDR: 0, MYR: 2 }

export const money = <C extends Currency>(minor: bigint, currency: C): Money<C> => ({
  minor,
  currency,
})

/** Most digits of an amount: more than any needs, few enough to parse cheaply. */
export const amountDigitsMax = 30

const amountPattern = new RegExp(`^[0-9]{1,${amountDigitsMax}}$`)

/** Parses an amount in the smallest unit. Returns undefined for anything but digits. */
export const parseAmount = (text: string): bigint | undefined => (amountPattern.test(text) ? BigInt(text) : undefined)
