import { column } from '#shared/money/countries'
import type { Fiat } from '#shared/money/money'
import { fromProviderAmount, ProviderNumber } from '#shared/provider/amount'
import { readerOf } from '#shared/schema'

// One odd field must not hide all others: what a decision does not need may be absent, null or of
// another form. What it does need is then missing, and the decision says what follows.

/** An empty text is absent, and so is one longer than the provider's own limit. */
export const textFrom = (value: unknown, lengthMax = 255): string | null =>
  typeof value === 'string' && value !== '' && value.length <= lengthMax ? value : null

/** Ids become part of a path, so no other form is accepted. */
export const idFrom = (value: unknown): string | null =>
  typeof value === 'string' && /^[A-Za-z0-9_-]{1,80}$/.test(value) ? value : null

/** Null for what is no moment. */
export function dateFrom(value: unknown): Date | null {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? null : new Date(ms)
}

const currencies: ReadonlyMap<unknown, Fiat> = new Map(
  column('currency').map((currency) => [currency, currency]),
)

/**
 * An amount in major units, as a number or as a text of one, in the currency's smallest unit. Null
 * when it is not exact, or of a currency we do not know.
 */
export function minorFrom(value: unknown, currencyWord: string | null): bigint | null {
  const currency = currencies.get(currencyWord)
  const number = readerOf(ProviderNumber)(typeof value === 'string' ? { decimal: value } : value)
  if (currency === undefined || 'fault' in number) return null
  return fromProviderAmount(number.value, currency)?.minor ?? null
}
