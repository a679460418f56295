import { describe, expect, test } from 'bun:test'
import { schemaReader } from '#platform/schema'
import { GetConfig } from '#shared/api/config'
import { chainTerms } from '../test-support/bodies'
import { config, fixtureOf, okay, type Replies, refusing } from '../test-support/fixture'
import { nowMs } from '../test-support/wallets'

const replies: Replies = {
  'pricing.terms': okay({ pairs: ['USD/IDR', 'USD/MYR'], quoteSeconds: 60 }),
  'payments.terms': okay({
    currencies: [
      {
        currency: 'MYR',
        country: 'MY',
        pair: 'USD/MYR',
        topup: { min: '500', max: '100000000', cardMax: '500000' },
        settlement: { min: '100', max: '100000000' },
      },
    ],
    methods: ['bank', 'card', 'qr'],
    checkoutSeconds: 900,
    cancellationsPerDayMax: 10,
    heldChannels: ['card'],
    topups: { openMax: 100, openAusdMax: '7', dayAusdMax: '8' },
  }),
  'payouts.terms': okay({
    pair: 'USD/IDR',
    currency: 'IDR',
    min: '10000',
    dayAusdMax: '9',
    validBeforeSecondsMin: 300,
    checksPerDayMax: 3,
    banks: [],
  }),
  'chain.terms': okay(chainTerms),
}

describe('GET /config', () => {
  test('combines the configuration of all services without a session', async () => {
    const { call } = await fixtureOf(replies)
    const response = await call('GET', '/config')
    const body = await response.json()
    expect(schemaReader(GetConfig.answer)(body)).not.toHaveProperty('fault')
    expect(body).toMatchObject({
      pairs: ['USD/IDR', 'USD/MYR'],
      languages: ['en', 'id', 'ms'],
      quote: { seconds: 60 },
      session: { secondsMax: 604_800 },
      checkout: { seconds: 900 },
      hold: { seconds: 60, channels: ['card'] },
      sends: { validBeforeSecondsMin: 61 },
      cashouts: { min: '10000', banks: [] },
      chain: { chainId: 10143, ausd: { decimals: 6 }, gasLimits: { draw: '400000' } },
    })
    expect(response.headers.get('cache-control')).toBe('public, max-age=60')
  })

  test('asks the services once a minute, for any number of requests', async () => {
    let now = nowMs
    const fixture = await fixtureOf(replies, { clock: () => now })
    const ask = async () => (await fixture.call('GET', '/config')).status
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200])
    await ask()
    const once = fixture.asked.length
    now += 59_999
    await ask()
    expect(fixture.asked).toHaveLength(once)
    now += 1
    await ask()
    expect(fixture.asked.length).toBe(once + 4)
  })

  test('counts like a sign-in for its address, because every start of an app reads it', async () => {
    const limits = { rateLimitPublicPerMinute: 1, rateLimitSignInsPerMinute: 3 }
    const fixture = await fixtureOf(replies, { config: { ...config, ...limits } })
    const ask = async (path: string) => (await fixture.call('GET', path)).status
    expect([await ask('/docs/nothing'), await ask('/docs/nothing')]).toEqual([404, 429])
    expect([await ask('/config'), await ask('/config'), await ask('/config')]).toEqual([200, 200, 200])
    expect(await ask('/config')).toBe(429)
  })

  test('asks the services again if the clock was set back', async () => {
    let now = nowMs
    const fixture = await fixtureOf(replies, { clock: () => now })
    await fixture.call('GET', '/config')
    const once = fixture.asked.length
    now -= 3_600_000
    await fixture.call('GET', '/config')
    expect(fixture.asked.length).toBeGreaterThan(once)
  })

  test('answers 304 without a body for a current ETag', async () => {
    const { call } = await fixtureOf(replies)
    const etag = (await call('GET', '/config')).headers.get('etag') ?? ''
    const again = await call('GET', '/config', { headers: { 'if-none-match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  test.each(Object.keys(replies))('answers 503, not a partial configuration, without %s', async (subject) => {
    const { call } = await fixtureOf({ ...replies, [subject]: refusing('chain_unavailable') })
    const response = await call('GET', '/config')
    expect(response.status).toBe(503)
    const back = await fixtureOf(replies)
    expect((await back.call('GET', '/config')).status).toBe(200)
  })
})
