import { describe, expect, test } from 'bun:test'
import { readConfig } from '#platform/config'
import { fields } from './config'

const complete = {
  DEPLOYMENT: 'test',
  NATS_URL: 'nats://127.0.0.1:4222',
  NATS_PASSWORD: 'p',
  DATABASE_URL: 'postgres://localhost/d',
  PROVIDER_URL: 'https://provider.example',
  PROVIDER_ID_SECRET_KEY: 'xnd_development_i',
  PROVIDER_MY_SECRET_KEY: 'xnd_development_m',
  PROVIDER_REQUESTS_PER_MINUTE: '60',
  APP_URL: 'https://app.example.org',
  CREDIT_LINE_ADDRESS: `0x${'c1'.repeat(20)}`,
}
const read = (env: Record<string, string>) => readConfig('payments', fields, env)
const http = { APP_URL: 'http://127.0.0.1:5173' }

describe('the return URL of a checkout', () => {
  test('may be https', () => {
    expect(read(complete).appUrl).toBe('https://app.example.org')
  })

  test.each(['test', 'live'])('must be https with DEPLOYMENT=%s, or startup fails with a remedy', (deployment) => {
    expect(() => read({ ...complete, ...http, DEPLOYMENT: deployment })).toThrow(
      /APP_URL must begin with https:\/\/.*DEPLOYMENT=local/s,
    )
  })

  test('may be http on one machine', () => {
    const config = read({ ...complete, ...http, DEPLOYMENT: 'local' })
    expect(config.appUrl).toBe(http.APP_URL)
  })
})

test.each(['RECHECK_AFTER_MS', 'HOLD_RECHECK_MS'])(
  '%s above an hour, after which a check counts as planned by a wrong clock, is refused',
  (name) => {
    expect(() => read({ ...complete, [name]: '3600001' })).toThrow(`${name} must be at most 3600000`)
  },
)

describe('the time to pay of a checkout', () => {
  test('is a quarter of an hour by default', () => {
    expect(read(complete).checkoutTtlMs).toBe(900_000)
  })

  test('cannot be below the minimum of the real provider', () => {
    const short = { ...complete, CHECKOUT_TTL_MS: '599999' }
    expect(() => read(short)).toThrow(/CHECKOUT_TTL_MS must be at least 600000/)
    expect(read({ ...complete, CHECKOUT_TTL_MS: '600000' }).checkoutTtlMs).toBe(600_000)
  })

  test('may be shorter on one machine', () => {
    const short = { ...complete, DEPLOYMENT: 'local', CHECKOUT_TTL_MS: '1000' }
    expect(read(short).checkoutTtlMs).toBe(1_000)
  })
})
