import type { ProviderCurrency } from './money'

export type Account = 'ID' | 'MY'

export const accounts: readonly Account[] = ['ID', 'MY']

export const currencyOf: Record<Account, ProviderCurrency> = { ID: 'IDR', MY: 'MYR' }

export const businessIdOf: Record<Account, string> = {
  ID: '6a10c0ffee00000000000b1d',
  MY: '6a10c0ffee00000000000b31',
}

/** Hours by which midnight is earlier than in UTC, for days of settlement. */
export const utcOffsetHoursOf: Record<Account, number> = { ID: 7, MY: 8 }
