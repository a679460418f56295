import { type Currency, currencies } from '#shared/money/money'

// The books are double entry: each event moves equal amounts onto the debit and off the credit side,
// asset by asset. An amount is signed, debit above 0 and credit below, so that a posting comes to 0
// per asset, and an account's balance is a plain sum.

/** What is counted: fiat in its smallest unit, AUSD in 10⁻⁶, the chain's native coin in wei. */
export const assets = [...currencies, 'MON'] as const
export type Asset = Currency | 'MON'

/** On which side of the balance sheet an account stands, and so on which side of 0 its balance. */
export type Side = 'owned' | 'owed' | 'earned' | 'spent' | 'exchange'

type Account = {
  readonly assets: readonly Asset[]
  readonly side: Side
  readonly about: string
}

/** The chart of accounts. The README beside it has a worked example for each path of money. */
export const chart = {
  provider_id: {
    assets: ['IDR'],
    side: 'owned',
    about: 'what the Indonesian account at the payment provider holds for us',
  },
  provider_my: {
    assets: ['MYR'],
    side: 'owned',
    about: 'the same, the Malaysian account',
  },
  treasury: { assets: ['AUSD'], side: 'owned', about: 'AUSD that the treasury holds' },
  credit_line: {
    assets: ['AUSD'],
    side: 'owned',
    about: 'AUSD that we brought into the contract, which it keeps for its users and its pool',
  },
  lanes: { assets: ['MON'], side: 'owned', about: 'native coin of the keys that send' },
  clawback: {
    assets: ['AUSD'],
    side: 'owned',
    about: 'what a wallet owes us: taken back at the provider, not yet on the chain or made good',
  },
  promises: {
    assets: ['AUSD'],
    side: 'owed',
    about: 'paid for, and not yet final on the chain',
  },
  collateral: { assets: ['AUSD'], side: 'owed', about: 'collateral that nothing takes back' },
  collateral_held: { assets: ['AUSD'], side: 'owed', about: 'collateral until its hold ends' },
  repaid: { assets: ['AUSD'], side: 'owed', about: 'debt repaid, and what was paid in excess' },
  repaid_held: {
    assets: ['AUSD'],
    side: 'owed',
    about: 'the same until its hold ends: it encumbers the account',
  },
  payouts: { assets: ['IDR'], side: 'owed', about: 'AUSD was taken for it, the bank has not paid' },
  returns: { assets: ['AUSD'], side: 'owed', about: 'taken for a cash-out that failed' },
  suspense: {
    assets: ['IDR', 'MYR', 'AUSD', 'MON'],
    side: 'owed',
    about: 'money that nothing of ours explains, until a person decides; each item is named',
  },
  exchange: {
    assets: ['IDR', 'MYR', 'AUSD'],
    side: 'exchange',
    about: 'one currency given for another: what came in of the one, what went out of the other',
  },
  spread: {
    assets: ['IDR', 'AUSD'],
    side: 'earned',
    about: 'what a spread kept of top-ups and settlements, less what it gave to cash-outs',
  },
  capital: {
    assets: ['IDR', 'MYR', 'AUSD', 'MON'],
    side: 'owed',
    about: 'what whoever runs this put in, less what was taken out',
  },
  fees: {
    assets: ['IDR', 'MYR'],
    side: 'spent',
    about: 'what the provider charged for moving money',
  },
  waived: { assets: ['AUSD'], side: 'spent', about: 'what a wallet owed and we gave up' },
  gas: { assets: ['MON'], side: 'spent', about: 'native coin paid for transactions' },
  drips: { assets: ['MON'], side: 'spent', about: 'native coin given to newly verified wallets' },
} as const satisfies Record<string, Account>

export type AccountName = keyof typeof chart
export const accountNames = Object.keys(chart) as AccountName[]

/** The provider's account as the books name it. */
export const providerOf = { ID: 'provider_id', MY: 'provider_my' } as const
