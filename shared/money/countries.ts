import type { Fiat } from '#shared/money/money'

type Country = {
  readonly country: string
  readonly currency: Fiat
  readonly pair: `USD/${Fiat}`
  /** Account at the payment provider. */
  readonly account: string
  /** Hours by which midnight is earlier than in UTC, in the zone of its banks, which has no daylight saving time. */
  readonly utcOffsetHours: number
  /** The same zone, by its name in the IANA database. */
  readonly timeZone: string
  readonly topupMinMinor: bigint
  /** Least cash-out in the smallest unit, or null if there are no cash-outs to this country. */
  readonly cashoutMinMinor: bigint | null
}

export const countries = [
  {
    country: 'ID',
    currency: 'IDR',
    pair: 'USD/IDR',
    account: 'ID',
    utcOffsetHours: 7,
    timeZone: 'Asia/Jakarta',
    topupMinMinor: 10_000n,
    cashoutMinMinor: 10_000n,
  },
  {
    country: 'MY',
    currency: 'MYR',
    pair: 'USD/MYR',
    account: 'MY',
    utcOffsetHours: 8,
    timeZone: 'Asia/Kuala_Lumpur',
    topupMinMinor: 500n,
    cashoutMinMinor: null,
  },
] as const satisfies readonly Country[]

type Row = (typeof countries)[number]
type Column<Rows extends readonly Row[], K extends keyof Row> = {
  readonly [I in keyof Rows]: Rows[I][K]
}

export const column = <K extends keyof Row>(name: K) =>
  countries.map((row) => row[name]) as unknown as Column<typeof countries, K>

/** Finds a country, such as by `countryBy('currency', 'IDR')`. Throws if there is none. */
export function countryBy<K extends 'country' | 'currency' | 'pair' | 'account'>(name: K, value: Row[K]): Row {
  const row = countries.find((one) => one[name] === value)
  if (!row) throw new Error(`no country has ${name} ${value}`)
  return row
}
