import type { ConfigOf, Field } from '#shared/config'
import { amount, durationMs, integer, oneOf, text, url } from '#shared/config-fields'
import { commonFields, databaseFields } from '#shared/service'
import type { TopupLimits } from './price'

/** A real provider takes no return URL without HTTPS, in test mode too; the sandbox knows this machine. */
function returnUrl(about: string): Field<string> {
  const field = url({ about })
  return {
    ...field,
    parse: (raw, other) => {
      const value = field.parse(raw)
      if (!value.startsWith('https://') && other?.('PROVIDER_KIND') !== 'sandbox')
        throw new Error(
          'must begin with https://: the provider takes no other return URL. ' +
            'Only PROVIDER_KIND=sandbox allows http, for a stack on one machine',
        )
      return value
    },
  }
}

/** The provider refuses a checkout that ends sooner. */
const checkoutTtlMinMs = 600_000

/** The rate is locked for as long as the checkout is open, so it is as short as the provider takes. */
function checkoutTtl(words: { about: string; fallback: string }): Field<number> {
  const field = durationMs(words)
  return {
    ...field,
    parse: (raw, other) => {
      const ttlMs = field.parse(raw)
      if (ttlMs < checkoutTtlMinMs && other?.('PROVIDER_KIND') !== 'sandbox')
        throw new Error(
          `must be ${checkoutTtlMinMs} at least: the provider opens no checkout that ends sooner`,
        )
      return ttlMs
    },
  }
}

/** Everything this service is told. */
export const fields = {
  ...commonFields,
  ...databaseFields,
  PROVIDER_URL: url({ about: "the payment provider's API" }),
  PROVIDER_ID_SECRET_KEY: text({ about: 'secret key of the Indonesian account', secret: true }),
  PROVIDER_MY_SECRET_KEY: text({ about: 'secret key of the Malaysian account', secret: true }),
  PROVIDER_REQUESTS_PER_MINUTE: integer({
    about: 'calls per endpoint and account; the provider allows 600 live, 60 in test mode',
    fallback: '600',
  }),
  PROVIDER_KIND: oneOf(['xendit', 'sandbox'], {
    about: 'sandbox: PROVIDER_URL is the local one, and APP_URL may be http',
    fallback: 'xendit',
  }),
  APP_URL: returnUrl(
    'where the checkout sends the user back to; HTTPS unless PROVIDER_KIND=sandbox',
  ),
  CHECKOUT_TTL_MS: checkoutTtl({
    about: 'how long a checkout may be paid at its rate; 10 minutes at least, by the provider',
    fallback: '900000',
  }),
  TOPUP_OPEN_MAX: integer({
    about: 'how many top-up checkouts of a wallet may be open at once',
    fallback: '100',
  }),
  TOPUP_OPEN_MAX_USD: amount({
    about: 'what the open top-up checkouts of a wallet may come to, in whole US dollars',
    fallback: '100000',
  }),
  TOPUP_DAY_MAX_USD: amount({
    about: 'what the top-ups of a wallet may come to in a day (UTC), in whole US dollars',
    fallback: '100000',
  }),
  TREASURY_LOW_AUSD: amount({
    about: 'less AUSD of the treasury that is promised to nobody calls a person, in whole AUSD',
    fallback: '1000',
  }),
  TREASURY_READING_MAX_MS: durationMs({
    about:
      'how long the last reading of the treasury serves while no newer one can be had; after that ' +
      'no top-up is opened',
    fallback: '60000',
  }),
  SWEEP_AFTER_MS: durationMs({
    about: 'what is quiet for so long is asked for at its authority',
    fallback: '20000',
  }),
  SWEEP_EVERY_MS: durationMs({ about: 'rest between two rounds of asking', fallback: '5000' }),
  HOLD_MARGIN_MS: durationMs({
    about:
      'so long before a hold ends its refunds are asked for once more; where that fails the hold ' +
      'is extended. Longer than a round, a call of the provider and a transaction take together',
    fallback: '15000',
  }),
  LIST_LATEST_EVERY_MS: durationMs({
    about:
      "how often the last minutes of the provider's list of transactions are read: a page or a few. " +
      'As long as they are, an open checkout is not asked for by itself before it ends',
    fallback: '20000',
  }),
  LIST_LATEST_MS: durationMs({
    about: 'how far back those last minutes reach behind the last reading',
    fallback: '600000',
  }),
  LIST_EVERY_MS: durationMs({
    about: "how often the last days of the provider's list of transactions are read",
    fallback: '3600000',
  }),
  LIST_RECENT_MS: durationMs({
    about: 'how far back those last days reach behind the last reading; the list may run late',
    fallback: '259200000',
  }),
  LIST_WHOLE_EVERY_MS: durationMs({
    about: 'how often all of the time is read in which a payment may be taken back',
    fallback: '86400000',
  }),
  LIST_WHOLE_MS: durationMs({
    about: 'how long a payment may be taken back; half a year by the rules of the card networks',
    fallback: '15552000000',
  }),
} as const

export const microPerUsd = 1_000_000n

/** The limits of a wallet's top-ups, as configured. */
export const topupLimitsFrom = (
  config: Pick<ConfigOf<typeof fields>, 'topupOpenMax' | 'topupOpenMaxUsd' | 'topupDayMaxUsd'>,
): TopupLimits => ({
  openMax: config.topupOpenMax,
  openMicroMax: config.topupOpenMaxUsd * microPerUsd,
  dayMicroMax: config.topupDayMaxUsd * microPerUsd,
})
