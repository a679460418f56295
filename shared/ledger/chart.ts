import { type Currency, currencies } from '#shared/money/money'

/** Assets: fiat in its smallest unit, AUSD in 10⁻⁶, the chain's native coin (MON) in wei. */
export const assets = [...currencies, 'MON'] as const
export type Asset = Currency | 'MON'

/** Side of the balance sheet, which determines the sign of the balance. */
export type Side = 'owned' | 'owed' | 'earned' | 'spent' | 'exchange'

type Account = {
  readonly assets: readonly Asset[]
  readonly side: Side
  readonly about: string
}

/** Accounts of the journals. `ledger/examples.test.ts` of payments and payouts show the postings of each path. */
export const chart = {
  provider_id: {
    assets: ['IDR'],
    side: 'owned',
    about: 'balance of the Indonesian account at the payment provider',
  },
  provider_my: {
    assets: ['MYR'],
    side: 'owned',
    about: 'balance of the Malaysian account at the payment provider',
  },
  treasury: { assets: ['AUSD'], side: 'owned', about: 'AUSD held by the treasury' },
  credit_line: {
    assets: ['AUSD'],
    side: 'owned',
    about: 'AUSD that we paid into the contract, for its users and its pool',
  },
  lanes: {
    assets: ['MON'],
    side: 'owned',
    about: 'native coin of the keys that send transactions',
  },
  clawback: {
    assets: ['AUSD'],
    side: 'owned',
    about: 'receivable from wallets: reversed at the provider, not yet on the chain and not recovered',
  },
  owed_back: {
    assets: ['AUSD'],
    side: 'owed',
    about: 'AUSD that wallets repaid needlessly, for a loss that was undone, and that is owed back to them',
  },
  promises: {
    assets: ['AUSD'],
    side: 'owed',
    about: 'AUSD paid for but not yet final on the chain',
  },
  collateral: {
    assets: ['AUSD'],
    side: 'owed',
    about: 'collateral that can no longer be reversed',
  },
  collateral_held: { assets: ['AUSD'], side: 'owed', about: 'collateral whose hold has not ended' },
  repaid: { assets: ['AUSD'], side: 'owed', about: 'debt repaid, including any excess' },
  repaid_held: {
    assets: ['AUSD'],
    side: 'owed',
    about: 'debt repaid whose hold has not ended: it encumbers the account',
  },
  payouts: {
    assets: ['IDR'],
    side: 'owed',
    about: 'rupiah owed to payees: AUSD taken, bank transfer not confirmed',
  },
  returns: { assets: ['AUSD'], side: 'owed', about: 'AUSD to return after a failed cash-out' },
  suspense: {
    assets: ['IDR', 'MYR', 'AUSD', 'MON'],
    side: 'owed',
    about: 'unexplained money until an operator decides, by item',
  },
  exchange: {
    assets: ['IDR', 'MYR', 'AUSD'],
    side: 'exchange',
    about: 'currency exchanged: received in one currency, given in another',
  },
  spread: {
    assets: ['IDR', 'AUSD'],
    side: 'earned',
    about: 'spread earned on top-ups and settlements, less spread given to cash-outs',
  },
  fees_earned: {
    assets: ['IDR', 'MYR'],
    side: 'earned',
    about: 'fees that users paid for top-ups and cash-outs',
  },
  capital: {
    assets: ['IDR', 'MYR', 'AUSD', 'MON'],
    side: 'owed',
    about: 'capital paid in by the owner, less withdrawals',
  },
  fees: {
    assets: ['IDR', 'MYR'],
    side: 'spent',
    about: 'fees of the payment provider',
  },
  waived: {
    assets: ['AUSD'],
    side: 'spent',
    about: 'receivables from wallets that were written off',
  },
  gas: { assets: ['MON'], side: 'spent', about: 'native coin spent on transactions' },
  drips: { assets: ['MON'], side: 'spent', about: 'native coin given to verified wallets' },
} as const satisfies Record<string, Account>

export type AccountName = keyof typeof chart
export const accountNames = Object.keys(chart) as AccountName[]

export const providerOf = { ID: 'provider_id', MY: 'provider_my' } as const
