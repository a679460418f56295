import { schemaReader } from '#platform/schema'
import { column } from '#shared/money/countries'
import type { Fiat } from '#shared/money/money'
import { fromProviderAmount, ProviderNumber } from '#shared/provider/amount'
import { ProviderUnknown } from '#shared/provider/problem'

// One invalid field must not hide the others: it counts as missing.

/** By default at most the provider's own limit. Null also with a NUL, which Postgres does not store. */
export const textFrom = (value: unknown, lengthMax = 255): string | null =>
  typeof value === 'string' && value !== '' && value.length <= lengthMax && !value.includes('\0') ? value : null

/** Throws if an answer is about another object than `id`. The body may omit its id. */
export function demandSameField(named: unknown, id: string): void {
  const other = textFrom(named)
  if (other !== null && other !== id)
    throw new ProviderUnknown('the provider returned another object than the one asked for')
}

/** Null if it could not safely be part of a path. */
export const idFrom = (value: unknown): string | null =>
  typeof value === 'string' && /^[A-Za-z0-9_-]{1,80}$/.test(value) ? value : null

const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i
/** Some systems print a missing time as year 1 or the epoch. */
const earliestMs = Date.UTC(2000, 0)

/** ISO 8601 with a time zone; null for another form. */
export function dateFrom(value: unknown): Date | null {
  if (typeof value !== 'string' || !timestamp.test(value)) return null
  const ms = Date.parse(value)
  return ms >= earliestMs ? new Date(ms) : null
}

const currencies: ReadonlyMap<unknown, Fiat> = new Map(column('currency').map((currency) => [currency, currency]))

/** From major units to the smallest; null if it is not exact or the currency is unknown. */
export function minorFrom(value: unknown, currencyWord: string | null): bigint | null {
  const currency = currencies.get(currencyWord)
  const number = schemaReader(ProviderNumber)(typeof value === 'string' ? { decimal: value } : value)
  if (currency === undefined || 'fault' in number) return null
  return fromProviderAmount(number.value, currency)?.minor ?? null
}
