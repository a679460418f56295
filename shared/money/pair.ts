import type { Fiat } from '#shared/money/money'

/** The pairs a quote can name; the pair picks the currency that is charged or paid out. */
export const pairs = ['USD/IDR', 'USD/MYR'] as const
export type Pair = (typeof pairs)[number]

export const fiatOf = (pair: Pair): Fiat => (pair === 'USD/IDR' ? 'IDR' : 'MYR')

/** The provider account (by country) that charges a currency. */
export const providerAccounts = ['ID', 'MY'] as const
export type ProviderAccount = (typeof providerAccounts)[number]

export const accountFor = (fiat: Fiat): ProviderAccount => (fiat === 'IDR' ? 'ID' : 'MY')
