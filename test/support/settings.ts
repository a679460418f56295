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
