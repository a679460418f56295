import type { Env, OwnProcess } from '#infra/local/environment'
import { devKey } from '#infra/local/keys'
import { type ConfigOf, type Environment, type Fields, readConfig } from '#platform/config'

/** The settings without a default. Nothing listens at these places. */
const required: Environment = {
  DEPLOYMENT: 'local', // The suites play the providers in the sandbox.
  NATS_URL: 'nats://127.0.0.1:9',
  NATS_PASSWORD: 'nats-password',
  DATABASE_URL: 'postgres://127.0.0.1:9/none',
  PROVIDER_URL: 'http://127.0.0.1:9',
  PROVIDER_ID_SECRET_KEY: 'xnd_development_id',
  PROVIDER_MY_SECRET_KEY: 'xnd_development_my',
  APP_URL: 'https://app.example.com',
  TREASURY_ADDRESS: '0x00000000000000000000000000000000000000aa',
  BANK_DETAILS_KEYS: `a:${Buffer.alloc(32, 1).toString('base64')}`,
  QUOTE_SECRETS: 'the secret that the quotes of suites have',
  RPC_URLS: 'http://127.0.0.1:9',
  AUSD_ADDRESS: '0x00000000000000000000000000000000000000ad',
  CREDIT_LINE_ADDRESS: '0x00000000000000000000000000000000000000c1',
  TREASURY_KEY: devKey('treasury'),
  LANE_KEYS: devKey('lane 0'),
  PUBLIC_SECRETS: 'allowed', // The chain keys are published in this repository.
}

/** Returns the settings of a deployment that sets what has no default, and `more`. */
export const defaultsOf = <F extends Fields>(service: string, fields: F, more: Environment = {}): ConfigOf<F> =>
  readConfig(service, fields, { ...required, ...more })

/** Settings of a stack, by process, that differ from those of `bun run start`. */
export type Changes = Partial<Record<OwnProcess, Env>>

const sweeps = { RECHECK_AFTER_MS: '8000', RECHECK_EVERY_MS: '2000' }

/**
 * Intervals and overlaps of all suites, unless one asks for `times: 'deployed'`. A deployment looks again after minutes, an
 * hour or a day, and a suite waits for what it finds. The holds of suites are shorter than its margin.
 */
export const soonerTimes: Changes = {
  gateway: { IDENTITY_RECHECK_OPEN_MS: '10000', IDENTITY_RECHECK_MS: '60000', REMINDERS_EVERY_MS: '5000' },
  payments: {
    ...sweeps,
    HOLD_MARGIN_MS: '5000',
    HOLD_RECHECK_MS: '5000',
    PROVIDER_LIST_LATEST_EVERY_MS: '5000',
    LIST_EVERY_MS: '10000',
    PROVIDER_LIST_RECENT_MS: '120000',
  },
  payouts: { ...sweeps, LIST_EVERY_MS: '10000' },
  operations: { BOOKS_EVERY_MS: '15000' },
}

const chain = { RPC_REQUESTS_PER_SECOND: '100000', POLL_MS: '300' }
const provider = { PROVIDER_REQUESTS_PER_MINUTE: '60000' }

/**
 * Limits of all suites, unless one asks for `limits: 'deployed'`. The users of all suites share one address, one account at
 * the provider and one endpoint, which the chain's pace of three blocks a second would exceed.
 */
export const liftedLimits: Changes = {
  gateway: {
    IDENTITY_RECHECKS_PER_MINUTE: '1200',
    RATE_LIMIT_PUBLIC_PER_MINUTE: '6000000',
    RATE_LIMIT_SIGNED_PER_MINUTE: '6000000',
    RATE_LIMIT_SIGN_INS_PER_MINUTE: '6000000',
    RATE_LIMIT_DELIVERIES_PER_MINUTE: '6000000',
  },
  payments: { ...provider, TOPUP_DAY_COUNT_MAX: '1000000' },
  // The sandbox refuses few account numbers, which all users share.
  payouts: { ...provider, CASHOUT_REFUSED_DAY_MAX: '1000000', CASHOUT_REFUSED_TO_ACCOUNT_DAY_MAX: '1000000' },
  'chain-relayer': { ...chain, RPC_ETH_CALLS_PER_SECOND: '100000', READS_EVERY_MS: '240' },
  'indexer-reader': chain,
  operations: provider,
}

/**
 * Intervals in ms of a suite that waits for rechecks and the provider's lists. An idle stack already takes a twelfth of a
 * processor, and each reading of the list reads all payments of a suite. The providers' first retry comes after 1 s instead
 * of 15 minutes.
 */
export const quickChecks = {
  payments: {
    RECHECK_AFTER_MS: '2500',
    RECHECK_EVERY_MS: '1000',
    PROVIDER_LIST_LATEST_EVERY_MS: '3000',
    HOLD_RECHECK_MS: '2000',
  },
  payouts: { RECHECK_AFTER_MS: '2500', RECHECK_EVERY_MS: '1000' },
  sandbox: { WEBHOOK_RETRY_SCALE: '0.001' },
} satisfies Changes
