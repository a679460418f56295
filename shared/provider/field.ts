import { schemaReader } from '#platform/schema'
import { column } from '#shared/money/countries'
import type { Fiat } from '#shared/money/money'
import { fromProviderAmount, ProviderNumber } from '#shared/provider/amount'
import { ProviderUnknown } from '#shared/provider/problem'

// An invalid field must not hide the others, so it counts as missing.

/**
 * Reads a text, by default of at most the provider's own limit. Returns null for another value, and for a text with
 * NUL, which Postgres does not store.
 */
export const textFrom = (value: unknown, lengthMax = 255): string | null =>
  typeof value === 'string' && value !== '' && value.length <= lengthMax && !value.includes('\0') ? value : null

/** Throws if an answer is about another object than `id`. The body may omit its id. */
export function demandSameField(named: unknown, id: string): void {
  const other = textFrom(named)
  if (other !== null && other !== id)
    throw new ProviderUnknown('the provider returned another object than the one asked for')
}

/** Reads an id. Returns null if it could not safely be part of a path. */
export const idFrom = (value: unknown): string | null =>
  typeof value === 'string' && /^[A-Za-z0-9_-]{1,80}$/.test(value) ? value : null

const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i
/** Earliest date that counts, because some systems print a missing time as year 1 or the epoch. */
const earliestMs = Date.UTC(2000, 0)

/** Reads an ISO 8601 date with a time zone. Returns null for another form. */
export function dateFrom(value: unknown): Date | null {
  if (typeof value !== 'string' || !timestamp.test(value)) return null
  const ms = Date.parse(value)
  return ms >= earliestMs ? new Date(ms) : null
}

const currencies: ReadonlyMap<unknown, Fiat> = new Map(column('currency').map((currency) => [currency, currency]))

/** Converts major units to the smallest. Returns null if the amount is not exact or the currency is unknown. */
export function minorFrom(value: unknown, currencyWord: string | null): bigint | null {
  const currency = currencies.get(currencyWord)
  const number = schemaReader(ProviderNumber)(typeof value === 'string' ? { decimal: value } : value)
  if (currency === undefined || 'fault' in number) return null
  return fromProviderAmount(number.value, currency)?.minor ?? null
}
