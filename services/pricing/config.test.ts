import { describe, expect, test } from 'bun:test'
import { readConfig } from '#shared/config'
import { fields } from './config'
import { sourcesFrom } from './rate-sources/sources'

const good = { NATS_URL: 'nats://127.0.0.1:4222', NATS_PASSWORD: 'p' }

describe('the configuration of pricing', () => {
  test('names the sources in the order of trust', () => {
    const env = { ...good, RATE_SOURCES: 'bnm, frankfurter,open-er-api' }
    const sources = sourcesFrom(readConfig('pricing', fields, env), Date.now)
    expect(sources.map((source) => source.name)).toEqual(['bnm', 'frankfurter', 'open-er-api'])
  })

  test.each([
    ['RATE_SOURCES', 'fixed,oracle', /RATE_SOURCES must be one of fixed/],
    ['FIXED_RATES', 'USD/SGD=135', /FIXED_RATES names a pair other than/],
    ['FIXED_RATES', 'USD/MYR=4.21', /FIXED_RATES must give whole numbers/],
    ['FIXED_RATES', 'USD/MYR=0', /FIXED_RATES must give numbers above 0/],
    ['RATE_BANDS', 'USD/MYR=200', /RATE_BANDS must give whole numbers/],
    ['SPREADS_BPS', 'USD/MYR=-1', /SPREADS_BPS must give whole numbers/],
  ])('refuses %s=%s', (name, value, fault) => {
    expect(() => readConfig('pricing', fields, { ...good, [name]: value })).toThrow(fault)
  })
})
