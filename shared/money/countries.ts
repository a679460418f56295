import type { Fiat } from '#shared/money/money'

type Country = {
  readonly country: string
  readonly currency: Fiat
  /** What a quote for this currency is called. */
  readonly pair: `USD/${Fiat}`
  /** The account at the payment provider that charges and pays this currency. */
  readonly account: string
  /** The least that a top-up charges, in the currency's smallest unit. */
  readonly topupMinMinor: bigint
  /** The least that a cash-out pays, in the smallest unit; null: no cash-outs to this country. */
  readonly cashoutMinMinor: bigint | null
}

/** Where people pay in and cash out, as the interface promises it. */
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

/** One column of the table, in the order of its rows. */
export const column = <K extends keyof Row>(name: K) =>
  countries.map((row) => row[name]) as unknown as Column<typeof countries, K>

/** The row with this value in this column, such as `countryBy('currency', 'IDR')`. */
export function countryBy<K extends 'country' | 'currency' | 'pair' | 'account'>(
  name: K,
  value: Row[K],
): Row {
  const row = countries.find((one) => one[name] === value)
  if (!row) throw new Error(`no country has ${name} ${value}`)
  return row
}
