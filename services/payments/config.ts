import type { ConfigOf, Field } from '#platform/config'
import { amount, durationMs, integer, oneOf, url } from '#platform/config-fields'
import { deploymentIn } from '#platform/deployment'
import { commonFields, databaseFields } from '#platform/service'
import { limitOfAll, pilotWallets } from '#shared/money/pilot'
import { operatorFields } from '#shared/operators/operators'
import { indonesianKey, malaysianKey, providerBudget, providerUrl } from '#shared/provider/account-key'
import { checkMaxMs } from './decide'
import type { TopupLimits } from './price'

/** Parses a return URL. The real provider requires HTTPS, in test mode too; the sandbox accepts http. */
function returnUrl(about: string): Field<string> {
  const field = url({ about })
  return {
    ...field,
    parse: (raw, other) => {
      const value = field.parse(raw)
      if (!value.startsWith('https://') && deploymentIn(other) !== 'local')
        throw new Error(
          'must begin with https://: the provider accepts no other return URL. ' +
            'Only DEPLOYMENT=local allows http, for a stack on one machine',
        )
      return value
    },
  }
}

const checkoutTtlMinMs = 600_000

/** Parses the lifetime of a checkout. The rate is locked for that time, so the default is short. */
function checkoutTtl(words: { about: string; fallback: string }): Field<number> {
  const field = durationMs(words)
  return {
    ...field,
    parse: (raw, other) => {
      const ttlMs = field.parse(raw)
      if (ttlMs < checkoutTtlMinMs && deploymentIn(other) !== 'local')
        throw new Error(`must be at least ${checkoutTtlMinMs}: the provider opens no shorter checkout`)
      return ttlMs
    },
  }
}

export const fields = {
  ...commonFields,
  ...databaseFields,
  ...operatorFields,
  PROVIDER_URL: providerUrl,
  PROVIDER_ID_SECRET_KEY: indonesianKey,
  PROVIDER_MY_SECRET_KEY: malaysianKey,
  PROVIDER_REQUESTS_PER_MINUTE: providerBudget('600'),
  APP_URL: returnUrl(
    'URL the checkout returns the user to, with `?payment=` and the id of the item; HTTPS unless DEPLOYMENT=local',
  ),
  CHECKOUT_TTL_MS: checkoutTtl({
    about: 'checkout lifetime at its locked rate; at least 10 minutes',
    fallback: '900000',
  }),
  TOPUP_OPEN_MAX: integer({
    least: 1,
    most: 100_000,
    about: 'maximum open top-up checkouts per wallet',
    fallback: '100',
  }),
  TOPUP_OPEN_MAX_USD: amount({
    least: 1n,
    most: 10n ** 12n,
    about: "limit on the sum of a wallet's open top-ups (whole US dollars)",
    fallback: '100000',
  }),
  TOPUP_DAY_MAX_USD: amount({
    least: 1n,
    most: 10n ** 12n,
    about: "limit on a wallet's top-ups per day of the country of the payment (whole US dollars)",
    fallback: '100000',
  }),
  TOPUP_DAY_COUNT_MAX: integer({
    least: 1,
    most: 1_000_000_000,
    about:
      "maximum paid top-ups of a wallet per day of the country of the payment: the provider's fee for each is booked as a cost",
    fallback: '20',
  }),
  TOPUP_ALL_DAY_MAX_USD: limitOfAll('limit on the top-ups of all wallets together per day in Jakarta'),
  PILOT_WALLETS: pilotWallets,
  PAYER_NAME_SENT: oneOf(['no', 'yes'], {
    about:
      'yes: the payment provider gets the name that the identity provider verified, with each checkout by bank transfer in ' +
      'Indonesia, as crypto merchants there must send it; never stored',
    fallback: 'no',
  }),
  TREASURY_LOW_AUSD: amount({
    least: 0n,
    most: 10n ** 12n,
    about: 'alert when uncommitted treasury AUSD falls below this (whole AUSD)',
    fallback: '1000',
  }),
  RECHECK_AFTER_MS: durationMs({
    about: 'recheck an item after this long without an update',
    fallback: '20000',
    maxMs: checkMaxMs,
  }),
  RECHECK_EVERY_MS: durationMs({ about: 'interval between recheck rounds', fallback: '5000' }),
  HOLD_MARGIN_MS: durationMs({
    about:
      'check for refunds this long before a hold ends; longer than a recheck round, a provider call and a transaction',
    fallback: '15000',
  }),
  HOLD_RECHECK_MS: durationMs({
    about: 'longest wait before the end of a hold is read from the chain again; at most an hour',
    fallback: '3600000',
    maxMs: checkMaxMs,
  }),
  PROVIDER_LIST_LATEST_EVERY_MS: durationMs({
    about: 'interval between readings of the last minutes of that list',
    fallback: '20000',
  }),
  PROVIDER_LIST_LATEST_MS: durationMs({
    about: 'overlap of these readings',
    fallback: '600000',
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
    fallback: '15552000000',
  }),
} as const

export type Config = ConfigOf<typeof fields>

/** Maximum age, in ms, of the treasury reading for a top-up. */
export const treasuryReadingMaxMs = 60_000

export const microPerUsd = 1_000_000n

export const topupLimitsFrom = (
  config: Pick<Config, 'topupOpenMax' | 'topupOpenMaxUsd' | 'topupDayCountMax' | 'topupDayMaxUsd'>,
): TopupLimits => ({
  openMax: config.topupOpenMax,
  openMicroMax: config.topupOpenMaxUsd * microPerUsd,
  dayCountMax: config.topupDayCountMax,
  dayMicroMax: config.topupDayMaxUsd * microPerUsd,
})
