import { expect, test } from 'bun:test'
import { loadConfig } from './config'

const env = {
  GATEWAY_URL: 'http://127.0.0.1:3000/',
  APP_URL: 'http://127.0.0.1:5173',
  PROVIDER_ID_SECRET_KEY: 'id',
  PROVIDER_MY_SECRET_KEY: 'my',
  PAYMENTS_CALLBACK_TOKEN_ID: 'a',
  PAYMENTS_CALLBACK_TOKEN_MY: 'b',
  IDENTITY_WEBHOOK_SECRET: 'c',
  IDENTITY_APP_TOKEN: 'd',
  IDENTITY_SECRET_KEY: 'e',
}

test('an omitted variable has its default', () => {
  expect(loadConfig(env)).toMatchObject({
    port: 3100,
    publicUrl: null,
    gatewayUrl: 'http://127.0.0.1:3000',
    webhookRetryScale: 1,
    payoutSettleMs: 1_000,
    feeBps: 0,
    identity: { provider: 'sumsub', level: 'basic-kyc-level' },
  })
})

test('0 is a value, not a missing one', () => {
  const config = loadConfig({ ...env, PORT: '0', PAYOUT_SETTLE_MS: '0' })
  expect(config).toMatchObject({ port: 0, payoutSettleMs: 0 })
})

test('one message lists all configuration errors', () => {
  const faulty = {
    ...env,
    PORT: 'x',
    APP_URL: 'ftp://x',
    GATEWAY_URL: '',
    IDENTITY_PROVIDER: 'veriff',
  }
  const message = /PORT: .*\n.*GATEWAY_URL: is missing\n.*APP_URL: must be/
  expect(() => loadConfig(faulty)).toThrow(message)
  expect(() => loadConfig(faulty)).toThrow(/IDENTITY_PROVIDER: must be sumsub or persona/)
})
