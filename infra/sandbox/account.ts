import type { Currency } from './amount'

/** One provider account per country: one key, one currency, one webhook token. */
export type Account = 'ID' | 'MY'

/** Both accounts. */
export const accounts: readonly Account[] = ['ID', 'MY']

/** The only currency each account handles. */
export const currencyOf: Record<Account, Currency> = { ID: 'IDR', MY: 'MYR' }

/** The provider's id of the merchant behind each account: 24 hex digits. */
export const businessIdOf: Record<Account, string> = {
  ID: '6a10c0ffee00000000000b1d',
  MY: '6a10c0ffee00000000000b31',
}
