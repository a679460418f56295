import type { ConfigOf, Field } from '#platform/config'
import { address, amount, durationMs, integer, list, oneOf } from '#platform/config-fields'
import { commonFields, databaseFields } from '#platform/service'
import { limitOfAll, pilotWallets } from '#shared/money/pilot'
import { operatorFields } from '#shared/operators/operators'
import { indonesianKey, providerBudget, providerUrl } from '#shared/provider/account-key'
import { checkWait } from './decide'
import type { PayoutApi, PayoutApis } from './provider'
import type { DetailsKey } from './request/bank'

/** Parses the keys of the bank details. Error messages never contain a key. */
function detailsKeys(about: string): Field<readonly DetailsKey[]> {
  const items = list({ about, secret: true })
  return {
    ...items,
    type: 'keyId:base64 list',
    parse: (raw) => {
      const keys = items.parse(raw).map((item) => {
        const [, id, base64] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(item) ?? []
        if (!id || !base64) throw new Error('must be keyId:base64 of 32 bytes, comma-separated')
        return { id, key: Buffer.from(base64, 'base64') }
      })
      if (new Set(keys.map(({ id }) => id)).size !== keys.length) throw new Error('must have distinct key ids')
      return keys
    },
  }
}

export const fields = {
  ...commonFields,
  ...databaseFields,
  ...operatorFields,
  PROVIDER_URL: providerUrl,
  PROVIDER_ID_SECRET_KEY: indonesianKey,
  PROVIDER_REQUESTS_PER_MINUTE: providerBudget('600'),
  PROVIDER_PAYOUTS_API: oneOf(['v2', 'v3', 'v2-only', 'v3-only'], {
    about:
      'API version of new payouts. Verify v3 in test mode before use. A row of a backup is looked up in both; -only: if the account never used the other and refuses it',
    fallback: 'v2',
  }),
  TREASURY_ADDRESS: address({ about: 'treasury, which receives the AUSD of cash-outs' }),
  BANK_DETAILS_KEYS: detailsKeys(
    'keys of account numbers and names: the first encrypts, all decrypt; from openssl rand -base64 32',
  ),
  BANK_ACCOUNT_LENGTHS: oneOf(['lenient', 'strict'], {
    about: "strict: account numbers must have their bank's length",
    fallback: 'lenient',
  }),
  CASHOUT_DAY_MAX_USD: amount({
    least: 1n,
    most: 10n ** 12n,
    about: 'limit on the cash-outs of a wallet, and to one bank account, per day in Jakarta (whole US dollars)',
    fallback: '100000',
  }),
  CASHOUT_ALL_DAY_MAX_USD: limitOfAll('limit on the cash-outs of all wallets together per day in Jakarta'),
  PILOT_WALLETS: pilotWallets,
  CASHOUT_CLOSED_DAY_MAX_USD: amount({
    least: 0n,
    most: 10n ** 12n,
    about:
      'limit on all cash-outs per day in Jakarta while the market of the rupiah is closed: a gap of 1 % at its reopening costs 1 % of it for each day; 0 means none (whole US dollars)',
    fallback: '0',
  }),
  CASHOUT_CLOSED_WALLET_DAY_MAX_USD: amount({
    least: 0n,
    most: 10n ** 12n,
    about: 'the same for one wallet (whole US dollars)',
    fallback: '0',
  }),
  CASHOUT_REFUSED_DAY_MAX: integer({
    least: 1,
    most: 1_000_000,
    about: 'number of refused cash-outs per day in Jakarta after which a wallet gets no more',
    fallback: '3',
  }),
  CASHOUT_REFUSED_TO_ACCOUNT_DAY_MAX: integer({
    least: 1,
    most: 1_000_000,
    about: 'the same for one bank account, over all wallets',
    fallback: '3',
  }),
  ACCOUNT_CHECKS_DAY_MAX: integer({
    least: 0,
    most: 1_000_000,
    about: 'limit on the account checks of all wallets per day in Jakarta; the provider may charge for each',
    fallback: '2000',
  }),
  BALANCE_LOW_IDR: amount({
    least: 0n,
    most: 10n ** 15n,
    about: 'alert when uncommitted rupiah at the provider falls below this (whole rupiah)',
    fallback: '50000000',
  }),
  BALANCE_EVERY_MS: durationMs({
    about: "interval between readings of the provider's balance",
    fallback: '15000',
  }),
  RECHECK_AFTER_MS: durationMs({
    about: 'recheck an item after this long without an update',
    fallback: '20000',
    maxMs: checkWait.maxMs,
  }),
  RECHECK_EVERY_MS: durationMs({ about: 'interval between recheck rounds', fallback: '5000' }),
  REVERSAL_WATCH_MS: durationMs({
    about: 'how long a paid cash-out is rechecked for a reversal',
    fallback: '86400000',
  }),
  LIST_EVERY_MS: durationMs({
    about: "interval between readings of the provider's transaction list, last days",
    fallback: '3600000',
  }),
  PROVIDER_LIST_RECENT_MS: durationMs({
    about: 'overlap of these readings, for late entries',
    fallback: '259200000',
  }),
  PROVIDER_LIST_WHOLE_EVERY_MS: durationMs({
    about: 'interval between readings of the whole reversal period',
    fallback: '86400000',
  }),
  PROVIDER_LIST_WHOLE_MS: durationMs({
    about: 'reversal period: half a year for cards; a month for payouts (assumed)',
    fallback: '2592000000',
  }),
}

export type Config = ConfigOf<typeof fields>

/** Maximum age, in ms, of the balance reading for a cash-out. */
export const balanceReadingMaxMs = 300_000
/** Maximum age, in ms, of the bank list. */
export const channelsRefreshMs = 3_600_000

export const closedMicroMaxOf = (config: {
  readonly cashoutClosedDayMaxUsd: bigint
  readonly cashoutClosedWalletDayMaxUsd: bigint
}) => ({
  ofAll: config.cashoutClosedDayMaxUsd * 1_000_000n,
  ofWallet: config.cashoutClosedWalletDayMaxUsd * 1_000_000n,
})

export const givenBackMaxOf = (config: {
  readonly cashoutRefusedDayMax: number
  readonly cashoutRefusedToAccountDayMax: number
}) => ({
  ofWallet: config.cashoutRefusedDayMax,
  toAccount: config.cashoutRefusedToAccountDayMax,
})

/** Returns the API version of new orders first, then the other version, which rows of a backup may need. */
export function payoutApisOf(setting: 'v2' | 'v3' | 'v2-only' | 'v3-only'): PayoutApis {
  const [newest, isAlone] = setting.split('-') as [PayoutApi, 'only'?]
  return isAlone ? [newest] : [newest, newest === 'v2' ? 'v3' : 'v2']
}
