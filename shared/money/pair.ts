import { column, countryBy } from '#shared/money/countries'
import type { Fiat } from '#shared/money/money'

export const pairs = column('pair')
export type Pair = (typeof pairs)[number]

export const fiatOf = (pair: Pair): Fiat => countryBy('pair', pair).currency

export const providerAccounts = column('account')
export type ProviderAccount = (typeof providerAccounts)[number]

export const accountFor = (fiat: Fiat): ProviderAccount => countryBy('currency', fiat).account
