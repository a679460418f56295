import { column, countryBy } from '#shared/money/countries'
import type { Fiat } from '#shared/money/money'

export const pairs = column('pair')
export type Pair = (typeof pairs)[number]

/** Writes a pair as the keys of the bucket `rates` have it, such as `usd-idr`. */
export const pairKey = (pair: Pair): string => pair.toLowerCase().replace('/', '-')

export const fiatOf = (pair: Pair): Fiat => countryBy('pair', pair).currency

export const providerAccounts = column('account')
export type ProviderAccount = (typeof providerAccounts)[number]

export const accountFor = (fiat: Fiat): ProviderAccount => countryBy('currency', fiat).account
