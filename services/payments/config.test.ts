import { describe, expect, test } from 'bun:test'
import { readConfig } from '#platform/config'
import { fields } from './config'

const complete = {
  NATS_URL: 'nats://127.0.0.1:4222',
  NATS_PASSWORD: 'p',
  DATABASE_URL: 'postgres://localhost/d',
  PROVIDER_URL: 'https://provider.example',
  PROVIDER_ID_SECRET_KEY: 'i',
  PROVIDER_MY_SECRET_KEY: 'm',
  APP_URL: 'https://app.example.org',
}
const read = (env: Record<string, string>) => readConfig('payments', fields, env)
const http = { APP_URL: 'http://127.0.0.1:5173' }

describe('the return URL of a checkout', () => {
  test('may be https', () => {
    expect(read(complete).appUrl).toBe('https://app.example.org')
  })

  test.each([[{}], [{ PROVIDER_KIND: 'xendit' }]])(
    'must be https with the real provider (%o), or startup fails with a remedy',
    (kind) => {
      expect(() => read({ ...complete, ...http, ...kind })).toThrow(
        /APP_URL must begin with https:\/\/.*PROVIDER_KIND=sandbox/s,
      )
    },
  )

  test('may be http if the configured provider is the sandbox', () => {
    const config = read({ ...complete, ...http, PROVIDER_KIND: 'sandbox' })
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

  test.each([[{}], [{ PROVIDER_KIND: 'xendit' }]])('cannot be below the minimum of the real provider (%o)', (kind) => {
    const short = { ...complete, ...kind, CHECKOUT_TTL_MS: '599999' }
    expect(() => read(short)).toThrow(/CHECKOUT_TTL_MS must be at least 600000/)
    expect(read({ ...complete, ...kind, CHECKOUT_TTL_MS: '600000' }).checkoutTtlMs).toBe(600_000)
  })

  test('may be shorter if the configured provider is the sandbox', () => {
    const short = { ...complete, PROVIDER_KIND: 'sandbox', CHECKOUT_TTL_MS: '1000' }
    expect(read(short).checkoutTtlMs).toBe(1_000)
  })
})
