import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { personReads } from '#shared/messages/person'
import { listen } from '../listen'
import { account, goodBodies, history } from '../test-support/bodies'
import { config, contextOf, type Fixture, fixtureOf, okay, type Replies, refusing } from '../test-support/fixture'
import { sendRaw } from '../test-support/raw'
import { ana, headerOf, walletOf } from '../test-support/wallets'

// The other services answer, so that a 5xx can only come from a fault of the gateway.

const empty = okay({ items: [], inFlight: [] })
const replies: Replies = {
  'pricing.terms': okay({}),
  'payments.terms': okay({}),
  'payouts.terms': okay({}),
  'chain.terms': okay({}),
  'chain.account': okay({ wallet: walletOf(ana), ...account }),
  'chain.activity': empty,
  'payments.activity': empty,
  'payouts.activity': empty,
  'indexer.record': okay({ history, blockNumber: '1' }),
  'pricing.quote.create': okay({ id: 'q', pair: 'USD/IDR', rate: '1', expiresAt: 'x' }),
  'payments.topup.create': refusing('quote_unknown'),
  'payments.settlement.create': refusing('nothing_owed'),
  'payouts.cashout.create': refusing('quote_unknown'),
  'payouts.account.check': refusing('not_verified'),
  'chain.send.create': refusing('not_verified'),
  'chain.signature.check': okay({ valid: false }),
  'indexer.statement': okay({
    until: '2026-11-26T00:00:00.000Z',
    items: [],
    opening: { collateral: '0', debt: '0' },
  }),
  'payments.statement': okay({ opening: { inFlight: '0' }, items: [] }),
  'payouts.statement': okay({ opening: { inFlight: '0', payouts: '0' }, items: [] }),
  ...Object.fromEntries(Object.values(personReads).map(({ subject }) => [subject, okay({ rows: [], next: null })])),
}
const token = { 'x-callback-token': 'token-id' }
const unlimited = {
  ...config,
  rateLimitPublicPerMinute: 1e6,
  rateLimitSignedPerMinute: 1e6,
  rateLimitSignInsPerMinute: 1e6,
}

let fixture: Fixture
let server: ReturnType<typeof listen>
let authorization: string
beforeAll(async () => {
  const { provider } = contextOf()
  const createLink = async () => ({ url: 'https://id.example', ref: null })
  fixture = await fixtureOf(replies, { config: unlimited, provider: { ...provider, createLink } })
  server = listen(fixture.app, { host: '127.0.0.1', port: 0 })
  authorization = await headerOf(ana)
})
afterAll(() => server[Symbol.asyncDispose]())

async function faultsOf(response: Response): Promise<string[]> {
  const { status, headers } = response
  const faults = status >= 500 ? [`status ${status}`] : []
  for (const name of ['x-request-id', 'x-content-type-options', 'x-frame-options', 'content-security-policy'])
    if (!headers.get(name)) faults.push(`no ${name}`)
  if (status < 400) {
    await response.body?.cancel()
    return faults
  }
  const text = await response.text()
  if (!headers.get('x-error-code')) faults.push('no x-error-code')
  const body = JSON.parse(text) as Record<string, unknown>
  if (Object.keys(body).join() !== 'error' || typeof body.error !== 'string') faults.push(`body ${text}`)
  return faults
}

const routes = [
  '/',
  '/health',
  '/ready',
  '/config',
  '/openapi.json',
  '/docs',
  '/docs/swagger-ui.css',
  '/llms.txt',
  '/docs/guide',
  '/docs/guide/top-up.md',
  '/docs/client.tgz',
  '/quote',
  '/me',
  '/me/activity',
  '/me/activity/1',
  '/me/activity/1/receipt',
  '/me/events',
  '/me/statement',
  '/topups/1/cancel',
  '/settlements/1/cancel',
  '/me/export',
  '/me/country',
  '/me/verification',
  '/topups',
  '/settlements',
  '/cashouts',
  '/cashouts/check',
  '/sends',
  `/verify/${ana.address}`,
  '/webhooks/payments',
  '/webhooks/identity',
]
const strangePaths = [
  '/.env',
  '/.git/config',
  '/wp-login.php',
  '/metrics',
  '/console/about',
  '/docs/..%2f..%2fpackage.json',
  '/docs/%2e%2e/me',
  '/%00',
  '/%',
  '/%zz',
  '/%ff%fe',
  '/me/',
  '//me',
  '/me//activity',
  '/ME',
  '/me;x=1',
  '/verify/',
  '/verify/%F0%9F%98%80',
  '/verify/__proto__',
  `/me/activity/${'9'.repeat(4_000)}`,
  '/me/activity/%00',
  `/verify/${'9'.repeat(4_000)}`,
  '/me?x=%00&x=[]',
  '/me/activity?limit=1e3',
  '/me/activity?cursor=%00',
  `/me/activity?cursor=${'A'.repeat(3_000)}`,
  '/１２３',
  '/constructor',
  '/__proto__',
  '/*',
  '/:wallet',
  '/verify/:wallet',
  '/?',
  '/#',
]
test('the scanner covers every route of the interface', async () => {
  const { paths } = (await (await fixture.call('GET', '/openapi.json')).json()) as {
    paths: object
  }
  const known = Object.keys(paths).map((path) => path.replace('{wallet}', ana.address).replace('{id}', '1'))
  expect(known.filter((path) => !routes.includes(path))).toEqual([])
})

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY']

describe('security: a scanner never gets a 5xx, and always gets our error body and headers,', () => {
  test.each(methods)('with %s on every path', async (method) => {
    const found: string[] = []
    for (const path of [...routes, ...strangePaths])
      for (const signed of [false, true]) {
        const headers: Record<string, string> = signed ? { authorization, ...token } : {}
        const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
          method,
          headers,
          redirect: 'manual' as const,
        })
        if (method === 'HEAD') expect(response.status).toBeLessThan(500)
        else found.push(...(await faultsOf(response)).map((fault) => `${method} ${path}: ${fault}`))
      }
    expect(found).toEqual([])
  })

  const good = JSON.stringify(goodBodies['/cashouts'])
  const json: readonly (string | Uint8Array<ArrayBuffer>)[] = [
    '',
    ' ',
    '\0',
    '{',
    '}',
    '[]',
    '[[]]',
    'null',
    'true',
    '0',
    '-0',
    '1e400',
    'NaN',
    'Infinity',
    '"x"',
    "{'a':1}",
    '{"a":1,}',
    '{"a":01}',
    '{"a":.5}',
    '{"a":+1}',
    '{"a":0x1}',
    '{a:1}',
    '{"a":undefined}',
    '{"__proto__":{"x":1}}',
    '{"constructor":{"prototype":1}}',
    '{"toString":1}',
    '{"pair":"USD/IDR","pair":1}',
    '{"pair":["USD/IDR"]}',
    '{"pair":{"$gt":""}}',
    '{"pair":null}',
    '{"pair":"\\ud800"}',
    '{"pair":"\\u0000"}',
    `${good}${good}`,
    `${good}\n{}`,
    `\ufeff${good}`,
    `${good.slice(0, -1)},"x":1}`,
    `//x\n${good}`,
    '['.repeat(30_000),
    `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
    `{"a":${'9'.repeat(60_000)}}`,
    `{"a":"${'x'.repeat(65_527)}"}`,
    `{"a":"${'x'.repeat(65_528)}"}`,
    'x'.repeat(200_000),
    Uint8Array.of(0xff, 0xfe, 0x7b, 0, 0x7d, 0),
    Uint8Array.of(0x7b, 0xc3, 0x28, 0x7d),
    Bun.gzipSync(good),
  ]
  const bodied = [...Object.keys(goodBodies), '/webhooks/payments', '/webhooks/identity', '/me/verification']
  test.each(bodied)(`with ${json.length} forms of JSON on %s`, async (path) => {
    const found: string[] = []
    for (const [at, body] of json.entries()) {
      const headers = { authorization, ...token, 'content-type': 'application/json' }
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
        method: 'POST',
        headers,
        body,
      })
      found.push(...(await faultsOf(response)).map((fault) => `form ${at}: ${fault}`))
    }
    expect(found).toEqual([])
  })

  const long = 'x'.repeat(8_000)
  const headerForms: readonly (readonly [name: string, value: string])[] = [
    ...['', 'x', 'text/plain', 'application/json; charset=utf-16', 'multipart/form-data', long].map(
      (value) => ['content-type', value] as const,
    ),
    ...['gzip', 'br', 'deflate, gzip', 'chunked', 'x'].map((value) => ['content-encoding', value] as const),
    ...['', 'Basic eDp5', 'Service ', 'Service a.b.c', `Service ${long}`, 'Bearer x', '\x80\xff'].map(
      (value) => ['authorization', value] as const,
    ),
    ...['', 'null', 'http://evil.example', 'javascript:', long].map((value) => ['origin', value] as const),
    ...['', '1.2.3.4', '::1', 'x, y, z', '127.0.0.1, '.repeat(500), '\x80'].map(
      (value) => ['x-forwarded-for', value] as const,
    ),
    ...['', 'x', '0'.repeat(65), 'a b', '\xff'.repeat(20)].map((value) => ['x-request-id', value] as const),
    ...['*', '"x"', 'W/"', ','.repeat(2_000)].map((value) => ['if-none-match', value] as const),
    ...['gzip;q=0', 'identity;q=0', '*;q=0', `gzip${';q=1'.repeat(500)}`].map(
      (value) => ['accept-encoding', value] as const,
    ),
    ...['00-0-0-0', '00-zz', long].map((value) => ['traceparent', value] as const),
    ...['bytes=0-1', 'bytes=-1', 'bytes=9-1,2-', 'x'].map((value) => ['range', value] as const),
    ...['100-continue', 'x'].map((value) => ['expect', value] as const),
    ...['x', 'gw', 'a b', '[::1', '', '127.0.0.1:99999', 'a'.repeat(300)].map((value) => ['host', value] as const),
    ...['websocket', 'h2c'].map((value) => ['upgrade', value] as const),
  ]
  test(`with ${headerForms.length} forms of headers on a route of each kind`, async () => {
    const found: string[] = []
    for (const path of ['GET /health', 'GET /me', 'POST /quote', 'GET /docs', 'POST /webhooks/payments'])
      for (const [name, value] of headerForms) {
        const lines = [`${path} HTTP/1.1`, ...(name === 'host' ? [] : ['Host: gateway']), `${name}: ${value}`]
        const body = path.startsWith('POST') ? '{}' : ''
        const rest = [...(body ? ['Content-Length: 2'] : []), 'Connection: close', '', body]
        const { status, headers, body: text } = await sendRaw(server.port, [...lines, ...rest].join('\r\n'))
        if (status === 100) continue
        const seen = new Response([204, 304].includes(status) ? null : text, { status, headers })
        found.push(...(await faultsOf(seen)).map((fault) => `${path} with ${name} ${value.slice(0, 20)}: ${fault}`))
      }
    expect(found).toEqual([])
  })
})
