import { describe, expect, test } from 'bun:test'
import { DeadlinePassed, pause } from '#platform/deadline'
import { openLog } from '#platform/log'
import { metricsOf } from '#platform/metrics/answer'
import { gauge } from '#platform/metrics/metric'
import { type Sample, samplesIn, valueIn } from '#test/support/telemetry/metrics'
import { openEdge } from '../http/edge'
import { account, history } from '../test-support/bodies'
import { config, contextOf, errorOf, fixtureOf, okay, type Replies, refusing } from '../test-support/fixture'
import { ana, budi, headerOf, nowMs, walletOf } from '../test-support/wallets'

const chain: Replies = { 'chain.account': okay({ wallet: walletOf(ana), ...account }) }
const reader: Replies = { 'indexer.record': okay({ history, blockNumber: '75' }) }
const path = `/verify/${walletOf(ana)}`

describe('POST /quote', () => {
  const quote = { id: 'q', pair: 'USD/MYR', rate: '424', expiresAt: '2026-11-21T07:01:00.000Z' }
  const reference = { rate: '421.35', source: 'bnm', asOf: '2026-11-20T00:00:00.000Z' }
  test('needs no sign-in and returns the quote with its reference rate and spread', async () => {
    const open = { ...quote, reference, spreadBps: 50 }
    const fixture = await fixtureOf({ 'pricing.quote.create': okay(open) })
    const response = await fixture.call('POST', '/quote', { body: { pair: 'USD/MYR' } })
    expect([response.status, await response.json()]).toEqual([200, open])
    expect(fixture.asked).toEqual([['pricing.quote.create', { pair: 'USD/MYR' }]])
  })
  test('passes on what the quote is for, and the reason of its spread', async () => {
    const closed = { ...quote, reference, spreadBps: -50, cashouts: true, reason: 'market_closed' }
    const fixture = await fixtureOf({ 'pricing.quote.create': okay(closed) })
    const body = { pair: 'USD/IDR', use: 'pay_out' }
    expect(await (await fixture.call('POST', '/quote', { body })).json()).toEqual(closed)
    expect(fixture.asked).toEqual([['pricing.quote.create', body]])
    expect((await fixture.call('POST', '/quote', { body: { ...body, use: 'cashout' } })).status).toBe(400)
  })
  test('answers 503 with Retry-After when there is no fresh rate', async () => {
    const fixture = await fixtureOf({ 'pricing.quote.create': refusing('rate_unavailable') })
    const response = await fixture.call('POST', '/quote', { body: { pair: 'USD/MYR' } })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2'])
  })
  test('is limited by the wallet of its session, if it has a valid one', async () => {
    const limits = { rateLimitPublicPerMinute: 1, rateLimitSignedPerMinute: 3 }
    const fixture = await fixtureOf({ 'pricing.quote.create': okay(quote) }, { config: { ...config, ...limits } })
    const ask = async (headers: Record<string, string> = {}) => {
      const response = await fixture.call('POST', '/quote', { body: { pair: 'USD/MYR' }, headers })
      return [response.status, response.headers.get('ratelimit')]
    }
    const [one, other] = [{ authorization: await headerOf(ana) }, { authorization: await headerOf(budi) }]
    expect([await ask(), await ask()].map(([status]) => status)).toEqual([200, 429])
    expect([await ask(one), await ask(one), await ask(one)]).toEqual([
      [200, '"wallet";r=2;t=20'],
      [200, '"wallet";r=1;t=40'],
      [200, '"wallet";r=0;t=60'],
    ])
    expect([await ask(one), await ask({ authorization: 'Service 1' })].map(([status]) => status)).toEqual([429, 429])
    expect((await ask(other))[0]).toBe(200)
  })
  test('is limited per address, unlike the webhooks', async () => {
    const fixture = await fixtureOf({}, { config: { ...config, rateLimitPublicPerMinute: 1 } })
    const from = async (address: string, to = '/quote') =>
      (await fixture.call('POST', to, { body: {}, from: address })).status
    expect([await from('a.1'), await from('a.1'), await from('a.2')]).toEqual([400, 429, 400])
    expect(await from('a.1', '/webhooks/payments')).toBe(401)
  })
})

describe('GET /verify/:wallet', () => {
  const record = {
    account: ana.address,
    verified: true,
    score: '520',
    ratioBps: '8200',
    cycles: 3,
    defaulted: false,
    history,
    indexer: 'ok',
  }
  const without = { ...record, history: null, indexer: 'unavailable' }

  test('combines the contract and the history in exactly the documented fields', async () => {
    const response = await (await fixtureOf({ ...chain, ...reader })).call('GET', path)
    expect([response.status, await response.json()]).toEqual([200, record])
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('cache-control')).toBe('public, max-age=2')
  })
  test.each<[string, Replies]>([
    ['is not there', {}],
    ['lags', { 'indexer.record': refusing('indexer_lags') }],
    ['fails', { 'indexer.record': () => Promise.reject(new Error('x')) }],
    ['is late', { 'indexer.record': () => Promise.reject(new DeadlinePassed('indexer.record', 1_200)) }],
  ])('returns all but the history when indexer-reader %s', async (_, replies) => {
    const response = await (await fixtureOf({ ...chain, ...replies })).call('GET', path)
    expect([response.status, await response.json()]).toEqual([200, without])
  })
  test.each<[string, Replies]>([
    ['cannot be read', { 'chain.account': refusing('chain_unavailable') }],
    ['has no service that reads it', {}],
  ])('answers 503 with Retry-After when the chain %s', async (_, replies) => {
    const response = await (await fixtureOf({ ...reader, ...replies })).call('GET', path)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2'])
  })
  test.each([
    ['score', { score: '510' }],
    ['number of closed cycles', { cycleCount: 2 }],
    ['open cycle', { cyclesOpened: 3 }],
    ['default', { defaulted: true }],
    ['verification', { verifiedAt: null }],
  ])('omits a history whose %s contradicts the contract', async (_, wrong) => {
    const told = okay({ history: { ...history, ...wrong }, blockNumber: '75' })
    const fixture = await fixtureOf({ ...chain, 'indexer.record': told })
    const response = await fixture.call('GET', path)
    expect([response.status, await response.json()]).toEqual([200, without])
  })
  test('includes a history newer than the contract state of the request', async () => {
    const settled = { ...account, score: '530', cycles: 4, drawn: '0' }
    const now = { ...history, score: '530', cycleCount: 4 }
    let readings = 0
    const fixture = await fixtureOf({
      'chain.account': okay({ wallet: walletOf(ana), ...settled }),
      'indexer.record': async () => ({
        ok: { history: readings++ === 0 ? history : now, blockNumber: '75' },
      }),
    })
    const response = await fixture.call('GET', path)
    const whole = { ...record, score: '530', cycles: 4, history: now }
    expect([response.status, await response.json()]).toEqual([200, whole])
  })
  test('omits a history that contradicts the contract when a further reading hangs', async () => {
    let readings = 0
    const old = { history: { ...history, score: '510' }, blockNumber: '75' }
    const hanging = new Promise<never>(() => {})
    const fixture = await fixtureOf({
      ...chain,
      'indexer.record': () => (readings++ === 0 ? { ok: old } : hanging),
    })
    const response = await fixture.call('GET', path)
    expect([response.status, await response.json()]).toEqual([200, without])
  })
  test('answers 503 when the chain hangs', async () => {
    const hanging = new Promise<never>(() => {})
    const fixture = await fixtureOf({ ...reader, 'chain.account': () => hanging })
    expect((await fixture.call('GET', path)).status).toBe(503)
  })
  test('ignores the case of the wallet, and answers 304 for a current ETag', async () => {
    const fixture = await fixtureOf({ ...chain, ...reader })
    const first = await fixture.call('GET', path)
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]+"$/)
    const headers = { 'if-none-match': etag }
    const again = await fixture.call('GET', `/verify/${ana.address}`, { headers })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    const other = await fixture.call('GET', path, { headers: { 'if-none-match': '"other"' } })
    expect(other.status).toBe(200)
  })
  test.each(['0x12', 'x'.repeat(42), `${walletOf(ana)}0`, `0X${walletOf(ana).slice(2)}`, '__proto__', '%FF'])(
    'refuses %s',
    async (wallet) => {
      const fixture = await fixtureOf({ ...chain, ...reader })
      const response = await fixture.call('GET', `/verify/${wallet}`)
      expect([response.status, await errorOf(response)]).toEqual([
        400,
        'wallet must be an address: 0x and 40 hex digits',
      ])
      expect(fixture.asked).toEqual([])
    },
  )
})

describe('every response', () => {
  test.each([
    ['GET', '/nowhere', 404],
    ['GET', '/quote', 405],
    ['DELETE', '/me', 405],
    ['POST', '/health', 405],
    ['TRACE', '/topups', 405],
    ['GET', '/docs/package.json', 404],
    ['GET', '/docs/..%2fpackage.json', 404],
    ['GET', '/health', 200],
    ['GET', '/me', 401],
  ])('%s %s (%d) carries request id and security headers', async (method, at, status) => {
    const fixture = await fixtureOf()
    const response = await fixture.call(method, at, { headers: { 'x-request-id': 'request-0001' } })
    expect(response.status).toBe(status)
    expect(response.headers.get('x-request-id')).toBe('request-0001')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    if (status === 404) expect(await errorOf(response)).toBe('not found')
    if (status === 405) expect(await errorOf(response)).toBe(`${method} is not allowed here`)
  })
  test.each([
    ['DELETE', '/me', 'GET, HEAD'],
    ['GET', '/topups', 'POST'],
    ['PUT', '/verify/0x0000000000000000000000000000000000000001', 'GET, HEAD'],
    ['POST', '/me/activity/pay_1/', 'GET, HEAD'],
    ['TRACE', '/docs/guide', 'GET, HEAD'],
    ['TRACE', '/nowhere', null],
  ])('%s %s names the methods of the route: %s', async (method, at, allowed) => {
    const fixture = await fixtureOf()
    const response = await fixture.call(method, at)
    expect(response.headers.get('allow')).toBe(allowed)
    expect(response.headers.get('x-error-code')).toBe(allowed ? 'bad_request' : 'not_found')
  })
  test('allows the app through CORS, in the preflight too', async () => {
    const fixture = await fixtureOf()
    const origin = 'https://app.example'
    const asking = { origin, 'access-control-request-method': 'POST' }
    const preflight = await fixture.call('OPTIONS', '/topups', { headers: asking })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin)
    const allowed = preflight.headers.get('access-control-allow-headers')
    for (const name of ['Authorization', 'Accept-Language']) expect(allowed).toContain(name)
    const refused = await fixture.call('GET', '/me', { headers: { origin } })
    expect(refused.headers.get('access-control-allow-origin')).toBe(origin)
    const read = refused.headers.get('access-control-expose-headers')
    for (const name of ['Date', 'Retry-After', 'Content-Disposition']) expect(read).toContain(name)
  })
})

const { health } = contextOf()

describe('CORS over the whole app', () => {
  const from = async (origin: string, method: string, at: string) => {
    const fixture = await fixtureOf({ ...chain, ...reader })
    const { headers } = await fixture.call(method, at, { headers: { origin } })
    const named = (name: string) => headers.get(`access-control-${name}`)
    return [named('allow-origin'), named('expose-headers') !== null, headers.get('vary')]
  }
  test.each([
    ['the app', 'https://app.example', 'GET', '/nowhere', ['https://app.example', true, 'Origin, Accept-Language']],
    ['no other page', 'https://evil.example', 'GET', '/me', [null, false, 'Origin, Accept-Language']],
    ['every page, for the public record', 'https://evil.example', 'GET', path, ['*', true, null]],
    [
      'no page at all, for webhooks',
      'https://app.example',
      'POST',
      '/webhooks/payments',
      [null, false, 'Accept-Language'],
    ],
  ])('lets %s read the response', async (_, origin, method, at, expected) => {
    expect(await from(origin, method, at)).toEqual(expected as never)
  })
})

describe('GET /ready', () => {
  test.each([
    [[], 200, { status: 'ready' }, { status: 'ready' }],
    [['payments', 'nats'], 503, { error: 'not ready' }, { missing: ['payments', 'nats'] }],
  ] as [string[], number, object, object][])(
    'with %p missing answers %d, and names the missing services to operators only',
    async (missing, status, body, details) => {
      const fixture = await fixtureOf({}, { health: { ...health, readiness: async () => ({ missing, down: [] }) } })
      const response = await fixture.call('GET', '/ready')
      expect([response.status, await response.json()]).toEqual([status, body])
      const answered503 = { 'x-error-code': 'unavailable', 'retry-after': '1' }
      const named = Object.keys(answered503).map((name) => response.headers.get(name))
      expect(named).toEqual(status === 200 ? [null, null] : Object.values(answered503))
      const told = await fixture.ops('/ready')
      expect([told.status, await told.json()]).toEqual([status, details])
      expect((await fixture.ops('/health')).status).toBe(200)
    },
  )
  test('answers 503 as soon as its process drains', async () => {
    const leaving = new AbortController()
    const fixture = await fixtureOf({}, { leaving: leaving.signal })
    expect((await fixture.call('GET', '/ready')).status).toBe(200)
    leaving.abort()
    expect((await fixture.call('GET', '/ready')).status).toBe(503)
    expect((await fixture.ops('/ready')).status).toBe(503)
  })
  test('caches readiness for 5 s when ready, and for 1 s when not', async () => {
    let now = nowMs
    let rounds = 0
    const readiness = async () => ({ missing: ++rounds === 1 ? ['nats'] : [], down: [] })
    const over = { clock: () => now, health: { ...health, readiness } }
    const fixture = await fixtureOf({}, over)
    const statusAt = async (ms: number) => {
      now = nowMs + ms
      return (await fixture.call('GET', '/ready')).status
    }
    for (const ms of [0, 0, 999]) expect([await statusAt(ms), rounds]).toEqual([503, 1])
    for (const ms of [1_000, 1_000, 5_999]) expect([await statusAt(ms), rounds]).toEqual([200, 2])
    expect([await statusAt(6_000), rounds]).toEqual([200, 3])
  })
})

test('GET /metrics serves operators only', async () => {
  const fixture = await fixtureOf(chain)
  expect((await fixture.call('GET', '/metrics')).status).toBe(404)
  expect(await (await fixture.ops('/metrics')).text()).toContain('ausd_services_asked 1')
})

test('GET /metrics reports that it could not ask the services, instead of none running', async () => {
  const collectMetrics = () => Promise.reject(new Error('no NATS'))
  const fixture = await fixtureOf(chain, { health: { ...health, collectMetrics: collectMetrics } })
  const lines = (await (await fixture.ops('/metrics')).text()).split('\n')
  expect(lines).toContain('ausd_services_asked 0')
  expect(lines.filter((line) => line.includes('service_up{'))).toEqual([])
})

test('GET /metrics counts requests by route and includes the metrics of all processes', async () => {
  const figures = async () => [gauge('dead_letters', 'Given up on.', 5)]
  const service = 'gateway' as const
  const ownMetrics = () => metricsOf({ service, copy: 'own', figures, log: openLog('suite', 'silent') })
  const theirs =
    '# HELP ausd_dead_letters x\n# TYPE ausd_dead_letters gauge\nausd_dead_letters{service="payments",copy="one"} 4\n'
  const collectMetrics = async () => [{ service: 'payments' as const, copy: 'one', text: theirs }]
  const frozen = { service: 'payments', copy: 'two', state: 'hangs', since: '' } as const
  const readiness = async () => ({ missing: [], down: [frozen] })
  const over = { health: { ...health, collectMetrics: collectMetrics, ownMetrics, readiness } }
  const fixture = await fixtureOf(chain, over)
  const samples = async () => samplesIn(await (await fixture.ops('/metrics')).text())
  const route = { method: 'GET', route: '/verify/:wallet', status: '200' }
  const counted = (among: Sample[]) => valueIn(among, 'ausd_http_request_duration_seconds_count', route) ?? 0
  const before = counted(await samples())
  await fixture.call('GET', path)
  const after = await samples()
  expect(counted(after)).toBe(before + 1)
  const seen = ([name, labels]: [string, Record<string, string>]) => valueIn(after, name, labels)
  expect(
    (
      [
        ['ausd_services_asked', {}],
        ['ausd_service_up', { service: 'payments' }],
        ['ausd_service_up', { service: 'payouts' }],
        ['ausd_service_up', { service: 'operations' }],
        ['ausd_service_copies', { service: 'gateway' }],
        ['ausd_service_copies_down', { service: 'payments' }],
        ['ausd_service_copies_down', { service: 'payouts' }],
        ['ausd_figures_up', { service: 'gateway', copy: 'own' }],
        ['ausd_dead_letters', { service: 'payments', copy: 'one' }],
        ['ausd_dead_letters', { service: 'gateway', copy: 'own' }],
      ] as [string, Record<string, string>][]
    ).map(seen),
  ).toEqual([1, 1, 0, 0, 1, 1, 0, 1, 4, 5])
})

test('the gateway answers at the deadline when a handler never ends', async () => {
  const handle = async () => {
    await pause(60_000)
    return new Response()
  }
  const edge = openEdge(contextOf(), { handle, deadlineMs: 20 })
  const headers = { 'x-request-id': 'request-0001' }
  const response = await edge(new Request('http://localhost/x', { headers }), 'a')
  expect([response.status, await errorOf(response)]).toEqual([503, 'the service is busy, try again'])
  expect(response.headers.get('retry-after')).toBe('2')
  expect(response.headers.get('x-request-id')).toBe('request-0001')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
})

test('security: the gateway refuses public requests above the concurrency limit at once, and frees each slot', async () => {
  const held = Promise.withResolvers<unknown>()
  const over = { config: { ...config, publicConcurrencyMax: 2 } }
  const fixture = await fixtureOf({ 'pricing.quote.create': () => held.promise }, over)
  const quote = () => fixture.call('POST', '/quote', { body: { pair: 'USD/IDR' } })
  const waiting = [quote(), quote()]
  const refused = await quote()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2'])
  expect(await errorOf(refused)).toBe('the service is busy, try again in a moment')
  held.resolve({ refused: 'rate_unavailable' })
  await Promise.all(waiting)
  expect(await errorOf(await quote())).not.toContain('too many')
})

test('security: bodies that never arrive take no slot of a public request', async () => {
  const over = { config: { ...config, publicConcurrencyMax: 2 } }
  const fixture = await fixtureOf({ 'pricing.quote.create': refusing('rate_unavailable') }, over)
  const slow = Array.from({ length: 2 }, () => {
    const { readable, writable } = new TransformStream<Uint8Array>()
    const headers = { 'content-type': 'application/json' }
    const answer = fixture.call('POST', '/quote', { raw: readable, headers })
    return { answer, end: () => writable.close() }
  })
  const quote = await fixture.call('POST', '/quote', { body: { pair: 'USD/IDR' } })
  expect(await errorOf(quote)).not.toContain('in a moment')
  await Promise.all(slow.map(({ end }) => end()))
  for (const { answer } of slow) expect((await answer).status).toBe(400)
})
