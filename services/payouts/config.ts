import type { Field } from '#shared/config'
import { address, amount, durationMs, integer, list, oneOf, text, url } from '#shared/config-fields'
import { commonFields, databaseFields } from '#shared/service'
import type { DetailsKey } from './bank'
import { payoutApis } from './provider'

/** `keyId:base64` of 32 bytes each; no fault ever quotes a key. */
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
      if (new Set(keys.map(({ id }) => id)).size !== keys.length)
        throw new Error('names a key id twice')
      return keys
    },
  }
}

/** The environment of payouts. */
export const fields = {
  ...commonFields,
  ...databaseFields,
  PROVIDER_URL: url({ about: "the payment provider's API" }),
  PROVIDER_ID_SECRET_KEY: text({ about: 'key of the Indonesian account', secret: true }),
  PROVIDER_REQUESTS_PER_MINUTE: integer({
    about: 'calls per endpoint and account; the provider allows 600 live, 60 in test mode',
    fallback: '600',
  }),
  PROVIDER_KIND: oneOf(['xendit', 'sandbox'], {
    about: 'sandbox: PROVIDER_URL is the local one',
    fallback: 'xendit',
  }),
  PROVIDER_PAYOUTS_API: oneOf(payoutApis, {
    about:
      "the provider's interface that new payouts go through; one already tried stays with its own",
    fallback: 'v2',
  }),
  TREASURY_ADDRESS: address({ about: 'where the AUSD of a cash-out goes' }),
  BANK_DETAILS_KEYS: detailsKeys('the first seals account numbers and names, all open them'),
  BANK_ACCOUNT_LENGTHS: oneOf(['lenient', 'strict'], {
    about: "strict: an account number has its bank's length; the sandbox's magic ones have not",
    fallback: 'lenient',
  }),
  CASHOUT_DAY_MAX_USD: amount({
    about: 'what the cash-outs of a wallet may come to in a day (UTC), in whole US dollars',
    fallback: '100000',
  }),
  BALANCE_LOW_IDR: amount({
    about: 'less rupiah at the provider that is promised to nobody calls a person',
    fallback: '50000000',
  }),
  BALANCE_EVERY_MS: durationMs({
    about: "how often the provider's balance is read",
    fallback: '15000',
  }),
  BALANCE_READING_MAX_MS: durationMs({
    about:
      'how long its last reading serves while no newer one can be had; after that no cash-out is accepted',
    fallback: '300000',
  }),
  CHANNELS_REFRESH_MS: durationMs({
    about: 'how old the list of banks may grow',
    fallback: '3600000',
  }),
  SWEEP_AFTER_MS: durationMs({
    about: 'a cash-out quiet for so long is asked for; doubles while it stays quiet',
    fallback: '20000',
  }),
  SWEEP_EVERY_MS: durationMs({ about: 'how often quiet ones are looked for', fallback: '5000' }),
  REVERSAL_WATCH_MS: durationMs({
    about: 'for how long a paid one is looked at for a late reversal',
    fallback: '86400000',
  }),
  LIST_EVERY_MS: durationMs({
    about: "how often the last days of the provider's list of transactions are read",
    fallback: '3600000',
  }),
  LIST_RECENT_MS: durationMs({
    about: 'how far back those last days reach',
    fallback: '259200000',
  }),
  LIST_WHOLE_EVERY_MS: durationMs({
    about: 'how often all of the time is read in which a bank may send a payout back',
    fallback: '86400000',
  }),
  LIST_WHOLE_MS: durationMs({
    about: 'how long a bank may send a payout back; nobody documents it, a month is generous',
    fallback: '2592000000',
  }),
}
