import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { Type } from 'typebox'
import { openLog } from '#platform/log'
import { ProviderNumber } from '#shared/provider/amount'
import { openProviderClient } from '#shared/provider/client'
import { ProviderBusy, ProviderUnknown } from '#shared/provider/problem'

type ReceivedCall = { method: string; path: string; headers: Headers; body: string }
type Reply = () => Response | Promise<Response>
const seen: ReceivedCall[] = []
let replies: Reply[] = []
const logged: string[] = []

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 30,
  fetch: async (request) => {
    const { pathname, search } = new URL(request.url)
    const { method, headers } = request
    seen.push({ method, path: pathname + search, headers, body: await request.text() })
    return (replies.shift() ?? (() => Response.json({ amount: 5 })))()
  },
})
afterAll(() => server.stop(true))
beforeEach(() => {
  seen.length = 0
  logged.length = 0
  replies = []
})

const secretKey = 'xnd_development_never_in_a_log'
const open = (requestsPerMinute = 60_000, clock?: () => number) =>
  openProviderClient({
    baseUrl: server.url.origin,
    secretKey,
    account: 'ID',
    requestsPerMinute,
    ...(clock && { clock }),
    log: openLog('payments', 'debug', { write: (line: string) => void logged.push(line) }),
  })
const schema = Type.Object({ amount: ProviderNumber })
const good: Reply = () => new Response('{"amount": 5.00, "more": [1e9]}')
const never: Reply = () => new Promise<Response>(() => {})
const problem = (status: number, code: string) => () =>
  Response.json({ error_code: code, message: 'because' }, { status })

describe('a successful call', () => {
  test('has the key as user name, the API version and the idempotency key', async () => {
    await open().post('/v2/payouts', {
      schema,
      body: { amount: 5 },
      idempotencyKey: 'key-1',
      apiVersion: '2024-11-11',
    })
    const [call] = seen
    expect(call!.headers.get('authorization')).toBe(`Basic ${btoa(`${secretKey}:`)}`)
    expect(call!.headers.get('idempotency-key')).toBe('key-1')
    expect(call!.headers.get('api-version')).toBe('2024-11-11')
    expect(call!.body).toBe('{"amount":5}')
  })

  test('returns numbers as they were written', async () => {
    replies = [good]
    expect(await open().get('/x', { schema })).toMatchObject({
      ok: { amount: { decimal: '5.00' }, more: [{ decimal: '1e9' }] },
    })
  })
})

describe("the provider's clock", () => {
  const hour = 3_600_000
  const at = (ms: number) => new Date(Date.now() + ms).toUTCString()
  const dated =
    (date: string, reply = good) =>
    async () => {
      const response = await reply()
      response.headers.set('date', date)
      return response
    }
  /** Returns the hours by which the client takes the provider's clock to be ahead after these responses. */
  const aheadAfter = async (...given: Reply[]) => {
    const client = open()
    for (const reply of given) {
      replies = [reply, reply, reply]
      await client.get('/x', { schema }).catch(() => {})
    }
    return Math.round(client.aheadMs() / hour)
  }

  test.each([2, -2, 23])('is read from the date of a response: %d hours ahead', async (hours) => {
    expect(await aheadAfter(dated(at(hours * hour)))).toBe(hours)
    expect(await aheadAfter(dated(at(hours * hour), problem(400, 'INVALID')))).toBe(hours)
    expect(await aheadAfter(dated(at(hours * hour)), dated(at(0)))).toBe(0)
  })

  test.each([
    ['of another day', at(-30 * hour)],
    ['of 1970', new Date(0).toUTCString()],
    ['of another century', at(100 * 365 * 24 * hour)],
    ['without a zone', at(3 * hour).replace(' GMT', '')],
    ['that is a number', String(Date.now())],
    ['that is no date', 'soon'],
  ])('keeps its last value after a date %s', async (_, date) => {
    expect(await aheadAfter(dated(date))).toBe(0)
    expect(await aheadAfter(dated(at(2 * hour)), dated(date))).toBe(2)
  })

  test('is not read from the error page of a proxy', async () => {
    const page = () => new Response('<h1>Bad Gateway</h1>', { status: 502 })
    expect(await aheadAfter(dated(at(5 * hour), page))).toBe(0)
  })
})

test('each account uses its own key', async () => {
  const log = openLog('payments', 'silent')
  for (const account of ['ID', 'MY'] as const) {
    const common = { baseUrl: server.url.origin, account, requestsPerMinute: 600, log }
    const client = openProviderClient({ ...common, secretKey: `key-${account}` })
    await client.get('/x', { schema })
    expect(client.account).toBe(account)
  }
  expect(seen.map(({ headers }) => headers.get('authorization'))).toEqual(
    ['key-ID', 'key-MY'].map((key) => `Basic ${btoa(`${key}:`)}`),
  )
})

describe('a refused call', () => {
  test.each([
    [404, 'DATA_NOT_FOUND', 'not_found'],
    [400, 'API_VALIDATION_ERROR', 'request_wrong'],
    [401, 'INVALID_API_KEY', 'account_misconfigured'],
    [409, 'DUPLICATE_ERROR', 'conflict'],
    [400, 'constructor', 'unknown'],
    [400, 'UNAUTHORIZED_SENDER_IP', 'account_misconfigured'],
    [403, 'SOMETHING_NEW', 'account_misconfigured'],
    [401, 'SOMETHING_NEW', 'account_misconfigured'],
  ] as const)('with %p %s means %s and is not repeated', async (status, code, meaning) => {
    replies = [problem(status, code)]
    const answer = await open().get('/x', { schema })
    expect(answer).toEqual({ refused: { status, code, meaning, message: 'because' } })
    expect(seen.length).toBe(1)
  })
})

test('a rejected key or address raises an alarm at any log level', async () => {
  replies = [problem(403, 'UNAUTHORIZED_SENDER_IP')]
  const log = openLog('payments', 'error', { write: (line: string) => void logged.push(line) })
  const api = { baseUrl: server.url.origin, secretKey, account: 'ID' as const, log }
  await openProviderClient({ ...api, requestsPerMinute: 60_000 }).get('/x', { schema })
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ alarm: true, code: 'UNAUTHORIZED_SENDER_IP' }])
})

describe('an unknown outcome', () => {
  const cases: [string, Reply][] = [
    ['a 500', problem(500, 'SERVER_ERROR')],
    ['a 503', problem(503, 'CHANNEL_UNAVAILABLE')],
    ['a 408', problem(408, 'TIMEOUT')],
    ['a page of HTML', () => new Response('<html>busy</html>')],
    ['a 403 of something in between', () => new Response('<html>no</html>', { status: 403 })],
    ['a redirect', () => Response.redirect(`${server.url.origin}/elsewhere`, 302)],
    ['a body without end', () => new Response(`{"x":"${'y'.repeat(2_000_000)}"}`)],
    ['a number as text', () => Response.json({ amount: '5' })],
    ['a missing field', () => Response.json({})],
    ['half a body', () => new Response('{"amount": 5')],
  ]
  test.each(cases)('of a write (%s) is thrown after one attempt', async (_, reply) => {
    replies = [reply]
    const work = open().post('/x', { schema, body: {} })
    await expect(work).rejects.toBeInstanceOf(ProviderUnknown)
    expect(seen.map(({ path }) => path)).toEqual(['/x'])
  })

  test.each(cases)('of a read (%s) is retried', async (_, reply) => {
    replies = [reply, good]
    expect(await open().get('/x', { schema })).toMatchObject({ ok: { amount: {} } })
    expect(seen.map(({ path }) => path)).toEqual(['/x', '/x'])
  })

  test('is reported at the deadline if the provider accepted the request and stayed silent', async () => {
    replies = [never]
    const work = open().post('/x', { schema, body: {}, deadlineMs: 150 })
    await expect(work).rejects.toBeInstanceOf(ProviderUnknown)
  })

  test('is also that of a refused connection', async () => {
    const log = openLog('payments', 'fatal')
    const baseUrl = 'http://127.0.0.1:9'
    const nobody = openProviderClient({
      baseUrl,
      secretKey,
      account: 'MY',
      requestsPerMinute: 600,
      log,
    })
    await expect(nobody.post('/x', { schema })).rejects.toBeInstanceOf(ProviderUnknown)
  })
})

describe('a 429', () => {
  const busy = (headers: Record<string, string>) => () =>
    Response.json({ error_code: 'RATE_LIMIT_EXCEEDED', message: '' }, { status: 429, headers })

  test.each([['Retry-After'], ['Rate-Limit-Reset']])(
    'is waited out according to %s, also by a write',
    async (header) => {
      replies = [busy({ [header]: '0.3' }), good]
      const startedAt = performance.now()
      expect(await open().post('/x', { schema })).toMatchObject({ ok: { amount: {} } })
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(299)
    },
  )

  test.each([
    ['the longer of both', () => ({ 'Retry-After': '40', 'Rate-Limit-Reset': '70' }), 70],
    ['a date', () => ({ 'Retry-After': new Date(Date.now() + 50_000).toUTCString() }), 50],
    [
      "a date by the provider's clock",
      () => ({
        'Retry-After': new Date(Date.now() + 7_250_000).toUTCString(),
        Date: new Date(Date.now() + 7_200_000).toUTCString(),
      }),
      50,
    ],
    ['two minutes at most', () => ({ 'Retry-After': '86400' }), 120],
  ] as const)('is waited out by %s', async (_, headers, seconds) => {
    const startedAt = performance.now()
    replies = [busy(headers())]
    const error = await open()
      .post('/x', { schema })
      .catch((thrown) => thrown)
    expect(error).toBeInstanceOf(ProviderBusy)
    // For a date, the remaining time is computed when the response is read.
    const tookMs = performance.now() - startedAt
    expect(error.retryAfterMs).toBeGreaterThan((seconds - 2) * 1_000 - tookMs)
    expect(error.retryAfterMs).toBeLessThanOrEqual(seconds * 1_000)
  })

  test('with calls left closes the endpoint for about a second, not until the end of the window', async () => {
    replies = [busy({ 'Rate-Limit-Remaining': '412', 'Rate-Limit-Reset': '58.2' }), good]
    expect(await open().post('/x', { schema })).toMatchObject({ ok: { amount: {} } })
    expect(seen.length).toBe(2)
  })

  test('without calls left closes the endpoint until the end of the window', async () => {
    replies = [busy({ 'Rate-Limit-Remaining': '0', 'Rate-Limit-Reset': '58.2' })]
    const error = await open()
      .post('/x', { schema })
      .catch((thrown) => thrown)
    expect(error).toBeInstanceOf(ProviderBusy)
    expect(error.retryAfterMs).toBeGreaterThan(57_000)
  })

  test('is avoided: after the last call of a window the next one waits for its end', async () => {
    const headers = { 'Rate-Limit-Remaining': '0', 'Rate-Limit-Reset': '0.4' }
    replies = [() => Response.json({ amount: 5 }, { headers }), good]
    const client = open()
    const startedAt = performance.now() // The time is read before the window begins, whatever delays the next line.
    await client.get('/x', { schema })
    await client.get('/x', { schema })
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(380)
  })

  test('closes the endpoint no longer although the clock is set back', async () => {
    let aheadMs = 0
    const client = open(60_000, () => Date.now() + aheadMs)
    const headers = { 'Rate-Limit-Remaining': '0', 'Rate-Limit-Reset': '0.4' }
    replies = [() => Response.json({ amount: 5 }, { headers }), good]
    await client.post('/x', { schema })
    aheadMs = -7_200_000
    expect(await client.post('/x', { schema })).toMatchObject({ ok: { amount: {} } })
  })

  test('ends no call early although the clock is set forward', async () => {
    let aheadMs = 0
    const again = busy({ 'Retry-After': '0.1' })
    replies = [
      () => {
        aheadMs = 7_200_000
        return again()
      },
      good,
    ]
    const client = open(60_000, () => Date.now() + aheadMs)
    expect(await client.post('/x', { schema })).toMatchObject({ ok: { amount: {} } })
  })

  test('with a wait beyond the deadline reports that nothing happened, and the time to retry', async () => {
    replies = [busy({ 'Retry-After': '40' })]
    const client = open()
    const error = await client.post('/x', { schema }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(ProviderBusy)
    expect(error.retryAfterMs).toBeGreaterThan(39_000)
    await expect(client.post('/x', { schema })).rejects.toBeInstanceOf(ProviderBusy)
    expect(seen.length).toBe(1)
  })
})

test('security: neither the key nor a body is logged', async () => {
  replies = [problem(500, 'SERVER_ERROR'), problem(401, 'INVALID_API_KEY')]
  await open().get('/x?reference_id=r', { schema })
  const lines = logged.join('')
  expect(lines).toContain('provider rejected request')
  expect(lines).not.toContain(secretKey)
  expect(lines).not.toContain(btoa(`${secretKey}:`))
})
