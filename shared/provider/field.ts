import { readerOf } from '#platform/schema'
import { column } from '#shared/money/countries'
import type { Fiat } from '#shared/money/money'
import { fromProviderAmount, ProviderNumber } from '#shared/provider/amount'

// One invalid field must not hide the others: a field that a decision does not need may be absent,
// null or malformed. A field that it does need is then missing, and the decision handles that.

/** Returns a text; null if it is empty or longer than the provider's own limit. */
export const textFrom = (value: unknown, lengthMax = 255): string | null =>
  typeof value === 'string' && value !== '' && value.length <= lengthMax ? value : null

/** Returns an id; null if it could not safely be part of a path. */
export const idFrom = (value: unknown): string | null =>
  typeof value === 'string' && /^[A-Za-z0-9_-]{1,80}$/.test(value) ? value : null

const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i
/** No object of the provider is older; some systems print a missing time as year 1 or the epoch. */
const earliestMs = Date.UTC(2000, 0)

/** Parses an ISO 8601 time with a time zone; null if it is of another form or before 2000. */
export function dateFrom(value: unknown): Date | null {
  if (typeof value !== 'string' || !timestamp.test(value)) return null
  const ms = Date.parse(value)
  return ms >= earliestMs ? new Date(ms) : null
}

const currencies: ReadonlyMap<unknown, Fiat> = new Map(
  column('currency').map((currency) => [currency, currency]),
)

/**
 * Converts an amount in major units, given as a number or text, to the currency's smallest unit.
 * Null if it is not exact or the currency is unknown.
 */
export function minorFrom(value: unknown, currencyWord: string | null): bigint | null {
  const currency = currencies.get(currencyWord)
  const number = readerOf(ProviderNumber)(typeof value === 'string' ? { decimal: value } : value)
  if (currency === undefined || 'fault' in number) return null
  return fromProviderAmount(number.value, currency)?.minor ?? null
}
