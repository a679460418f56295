/** AUSD counts 10⁻⁶, MYR counts sen, IDR counts whole rupiah: each in its smallest unit. */
export const currencies = ['AUSD', 'IDR', 'MYR'] as const
export type Currency = (typeof currencies)[number]
export type Fiat = Exclude<Currency, 'AUSD'>

export type Money<C extends Currency = Currency> = { readonly minor: bigint; readonly currency: C }

/** Decimal places between a currency's major unit and the smallest unit the interface counts in. */
export const decimals: Readonly<Record<Currency, number>> = { AUSD: 6, IDR: 0, MYR: 2 }

export const money = <C extends Currency>(minor: bigint, currency: C): Money<C> => ({
  minor,
  currency,
})

/** More digits than any amount needs, few enough to be cheap to read. */
export const amountDigitsMax = 30

const amountPattern = new RegExp(`^[0-9]{1,${amountDigitsMax}}$`)

/** Reads an Amount of the interface: digits only, smallest unit. Anything else is undefined. */
export const parseAmount = (text: string): bigint | undefined =>
  amountPattern.test(text) ? BigInt(text) : undefined
