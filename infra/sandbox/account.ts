import type { Currency } from './amount'

/** One provider account per country: one key, one currency, one webhook token. */
export type Account = 'ID' | 'MY'

/** Both accounts. */
export const accounts: readonly Account[] = ['ID', 'MY']

/** Currency of each account, which handles no other. */
export const currencyOf: Record<Account, Currency> = { ID: 'IDR', MY: 'MYR' }

/** Provider's merchant id of each account: 24 hex digits. */
export const businessIdOf: Record<Account, string> = {
  ID: '6a10c0ffee00000000000b1d',
  MY: '6a10c0ffee00000000000b31',
}
