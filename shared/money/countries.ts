import type { Fiat } from '#shared/money/money'

type Country = {
  readonly country: string
  readonly currency: Fiat
  /** Currency pair of a quote. */
  readonly pair: `USD/${Fiat}`
  /** Account at the payment provider that charges and pays this currency. */
  readonly account: string
  /** Minimum top-up in the currency's smallest unit. */
  readonly topupMinMinor: bigint
  /** Minimum cash-out in the smallest unit; null: no cash-outs to this country. */
  readonly cashoutMinMinor: bigint | null
}

/** Supported countries, as defined by the interface. */
export const countries = [
  {
    country: 'ID',
    currency: 'IDR',
    pair: 'USD/IDR',
    account: 'ID',
    topupMinMinor: 10_000n,
    cashoutMinMinor: 10_000n,
  },
  {
    country: 'MY',
    currency: 'MYR',
    pair: 'USD/MYR',
    account: 'MY',
    topupMinMinor: 500n,
    cashoutMinMinor: null,
  },
] as const satisfies readonly Country[]

type Row = (typeof countries)[number]
type Column<Rows extends readonly Row[], K extends keyof Row> = {
  readonly [I in keyof Rows]: Rows[I][K]
}

/** Returns one column of the table, in row order. */
export const column = <K extends keyof Row>(name: K) =>
  countries.map((row) => row[name]) as unknown as Column<typeof countries, K>

/** Returns the row with this value in this column, such as `countryBy('currency', 'IDR')`. */
export function countryBy<K extends 'country' | 'currency' | 'pair' | 'account'>(
  name: K,
  value: Row[K],
): Row {
  const row = countries.find((one) => one[name] === value)
  if (!row) throw new Error(`no country has ${name} ${value}`)
  return row
}
