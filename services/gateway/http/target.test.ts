import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openLog } from '#platform/log'
import { requestTexts } from '#shared/language/requests'
import { listen } from '../listen'
import { openConsole } from '../operators/console'
import { openOperatorListener } from '../operators/listener'
import { contextOf, fixtureOf, okay } from '../test-support/fixture'
import { sendRaw } from '../test-support/raw'

const lines: string[] = []
const log = openLog('suite', 'info', { write: (line) => void lines.push(line) })
const quote = { id: 'q', pair: 'USD/IDR', rate: '16250', expiresAt: '2026-11-21T07:01:00.000Z' }
let server: ReturnType<typeof listen>
let operators: ReturnType<typeof listen>
beforeAll(async () => {
  const anyPort = { host: '127.0.0.1', port: 0 }
  const fixture = await fixtureOf({ 'pricing.quote.create': okay(quote) }, { log })
  server = listen(fixture.app, anyPort)
  const missing = { silent: 'not in this suite' }
  const parts = {
    token: '',
    hosts: [],
    live: missing,
    items: missing,
    log,
    overview: { watch: () => () => {}, [Symbol.asyncDispose]: async () => {} },
    leaving: new AbortController().signal,
  }
  operators = listen(openConsole(parts as never, openOperatorListener(contextOf({ log }))), anyPort)
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await operators[Symbol.asyncDispose]()
})

const get = (path: string, host: string, version = '1.1') =>
  sendRaw(server.port, `GET ${path} HTTP/${version}\r\n${host}\r\n`)

test('a Host header that names no host is refused in the language of the request', async () => {
  const { headers, body } = await get('/health', 'Host: a b\r\nAccept-Language: id\r\n')
  expect(JSON.parse(body)).toEqual({ error: requestTexts.host_missing.id })
  expect(headers.get('content-language')).toBe('id')
})

describe('the gateway answers 400 without a log line to a Host header that names no host', () => {
  test.each([
    ['is empty', ''],
    ['has a blank', 'a b'],
    ['has an open bracket', '[::1'],
    ['has a bracket without an address', '[x]'],
    ['has a port above 65535', 'x:99999'],
    ['has a port of letters', 'gateway:http'],
    ['has a path', 'gateway/me?'],
    ['has a query', 'gateway?me'],
    ['has a fragment', 'gateway#me'],
    ['has a backslash', 'gateway\\me'],
    ['has a user', 'user:password@gateway'],
    ['has a percent sign', 'gate%77ay'],
    ['has a letter outside ASCII', 'g\u00e4teway'],
    ['has a number above 255 in an IPv4 address', '999.1.1.1'],
    ['has 300 characters', 'a'.repeat(300)],
  ])('if it %s', async (_, host) => {
    lines.length = 0
    for (const version of ['1.1', '1.0']) {
      const { status, headers, body } = await get('/health', `Host: ${host}\r\n`, version)
      expect([status, JSON.parse(body)]).toEqual([400, { error: 'the Host header names no host' }])
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers.get('x-error-code')).toBe('bad_request')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    }
    expect(lines).toEqual([])
  })
  test('when there are two', async () => {
    const { status, body } = await get('/health', 'Host: gateway\r\nHost: other\r\n')
    expect([status, JSON.parse(body)]).toEqual([400, { error: 'the Host header names no host' }])
  })
  test('on a webhook and on the operators’ listener too', async () => {
    const post = 'POST /webhooks/payments HTTP/1.1\r\nHost: a b\r\nContent-Length: 2\r\n\r\n{}'
    expect((await sendRaw(server.port, post)).status).toBe(400)
    for (const host of ['a b', '127.0.0.1:99999']) {
      const request = `GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`
      const { status, headers } = await sendRaw(operators.port, request)
      expect([status, headers.get('x-content-type-options')]).toEqual([400, 'nosniff'])
    }
    expect(lines).toEqual([])
  })
})

describe('the gateway routes by the path alone', () => {
  test.each(['x', 'gw', 'api', 'a:1', '[::1]:3000', '127.0.0.1', 'app.example.', 'api_1:8080'])(
    'if the host is %s',
    async (host) => {
      const at = async (path: string) => (await get(path, `Host: ${host}\r\n`)).status
      expect(await at('/health')).toBe(200)
      expect(await at('/me')).toBe(401)
      for (const path of ['/aaaa/health', '/xx/openapi.json', '/verify/me', '/zzz/me'])
        expect([path, await at(path)]).toEqual([path, path === '/verify/me' ? 400 : 404])
      const post = `POST /zzz/webhooks/payments HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2\r\n\r\n{}`
      expect((await sendRaw(server.port, post)).status).toBe(404)
    },
  )
  test('when HTTP/1.0 sends no Host, as health checks do', async () => {
    expect((await get('/health', '', '1.0')).status).toBe(200)
    expect((await get('/xx/../health?x=/me', '', '1.0')).status).toBe(200)
    expect((await get('//evil/health', '', '1.0')).status).toBe(404)
    const { status, body } = await sendRaw(
      server.port,
      'POST /quote HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n{"pair":"USD/IDR"}',
    )
    expect([status, JSON.parse(body)]).toEqual([200, quote])
  })
  test('when the request line has its own authority', async () => {
    expect((await get('http://evil.example/health', 'Host: gateway\r\n')).status).toBe(200)
  })
})
