import { describe, expect, test } from 'bun:test'
import { readConfig } from '#platform/config'
import { fields } from './config'
import { sourcesFrom } from './rate-sources/sources'

const bus = {
  NATS_URL: 'nats://127.0.0.1:4222',
  NATS_PASSWORD: 'p',
  DATABASE_URL: 'postgres://pricing@127.0.0.1:5432/postgres',
  QUOTE_SECRETS: 's'.repeat(32),
}
const good = { ...bus, DEPLOYMENT: 'local' }

describe('the configuration of pricing', () => {
  test('lists the sources in the order of trust', () => {
    const env = { ...good, RATE_SOURCES: 'bnm, frankfurter,open-er-api,indodax' }
    const sources = sourcesFrom(readConfig('pricing', fields, env), Date.now)
    expect(sources.map((source) => source.name)).toEqual(['bnm', 'frankfurter', 'open-er-api', 'indodax'])
  })

  test.each([
    ['RATE_SOURCES', 'fixed,oracle', /RATE_SOURCES must be one of fixed/],
    ['RATE_SOURCES', 'open-er-api', /RATE_SOURCES may not begin with open-er-api/],
    ['RATE_SOURCES', 'indodax,frankfurter', /RATE_SOURCES may not begin with indodax/],
    ['RATE_SOURCES', 'open-er-api,bnm', /RATE_SOURCES may not begin with open-er-api/],
    ['FIXED_RATES', 'USD/SGD=135', /FIXED_RATES names a pair other than/],
    ['FIXED_RATES', 'USD/MYR=4.21', /FIXED_RATES must give whole numbers/],
    ['FIXED_RATES', 'USD/MYR=0', /FIXED_RATES must give numbers above 0/],
    ['RATE_BANDS', 'USD/MYR=200', /RATE_BANDS must give whole numbers/],
    ['RATE_BANDS', 'USD/MYR=800-200', /RATE_BANDS must give the lower rate first/],
    ['RATE_BANDS', 'USD/IDR=8000-600000', /RATE_BANDS must stay below 131072/],
    ['QUOTE_TTL_MS', '300001', /QUOTE_TTL_MS must be at most 300000/],
    ['QUOTE_SECRETS', 's'.repeat(31), /QUOTE_SECRETS must contain secrets of at least 32 characters/],
    ['SPREADS_BPS', 'USD/MYR=-1', /SPREADS_BPS must give whole numbers/],
    ['SPREADS_BPS', 'USD/IDR=512', /SPREADS_BPS must keep USD\/IDR below 512 at its widest/],
    ['SPREADS_BPS', 'USD/MYR=231', /SPREADS_BPS must keep USD\/MYR below 512 at its widest/],
    ['SPREADS_BPS', 'USD/IDR=1,USD/MYR=0', /SPREADS_BPS may not exceed on USD\/IDR/],
    ['SPREADS_BPS', 'USD/IDR=1', /SPREADS_BPS may not exceed on USD\/IDR/],
    ['SPREADS_BPS', 'USD/MYR=50=0', /SPREADS_BPS must name a pair and one value/],
    ['SPREADS_BPS', 'USD/MYR=50,USD/MYR=0', /SPREADS_BPS must not name a pair twice/],
    [
      'RATE_HOLIDAYS',
      '2026-12-25,25-12-2026',
      /RATE_HOLIDAYS must list days of the calendar, e\.g\. 2026-12-25, not 25-12-2026/,
    ],
    ['RATE_HOLIDAYS', '2026-12-25;2026-12-26', /RATE_HOLIDAYS must list days of the calendar/],
    ['RATE_HOLIDAYS', '2027-02-29', /RATE_HOLIDAYS must list days of the calendar/],
    ['TOPUP_FEES', 'IDR:crypto=1+0', /TOPUP_FEES names a channel other than bank/],
    [
      'TOPUP_FEES',
      'MYR:qr=0+70',
      /TOPUP_FEES names qr for MYR, whose channels are bank, card, ewallet \(DuitNow is bank\)/,
    ],
    ['TOPUP_FEES', 'MYR:bank=401+0', /TOPUP_FEES must be at most IDR 8000\+1000, MYR 400\+1000/],
    ['RATE_DEVIATION_SPREAD_FACTOR', 'x', /RATE_DEVIATION_SPREAD_FACTOR must/],
  ])('refuses %s=%s', (name, value, fault) => {
    expect(() => readConfig('pricing', fields, { ...good, [name]: value })).toThrow(fault)
  })
})

describe('in a deployment', () => {
  const stated = { RATE_SOURCES: 'frankfurter,bnm', SPREADS_BPS: 'USD/IDR=0,USD/MYR=0' }
  const read = (env: Record<string, string>) => readConfig('pricing', fields, { ...bus, DEPLOYMENT: 'test', ...env })

  test.each(['test', 'live'])('with DEPLOYMENT=%s it starts when all is stated', (deployment) => {
    expect(read({ ...stated, DEPLOYMENT: deployment }).spreadsBps.get('USD/MYR')).toBe(0n)
  })

  test.each([
    ['no source', { RATE_SOURCES: '' }, /RATE_SOURCES must be set/],
    ['a rate of our own', { RATE_SOURCES: 'fixed' }, /RATE_SOURCES .* fixed/],
    ['a rate of our own, in reserve', { RATE_SOURCES: 'bnm,fixed' }, /RATE_SOURCES .* fixed/],
    ['no spread', { SPREADS_BPS: '' }, /SPREADS_BPS must be set/],
    ['no spread of a pair', { SPREADS_BPS: 'USD/IDR=0' }, /SPREADS_BPS must include USD\/MYR/],
  ])('it does not start with %s', (_, env, fault) => {
    expect(() => read({ ...stated, ...env })).toThrow(fault)
  })
})
