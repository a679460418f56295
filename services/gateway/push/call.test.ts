import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { freePort } from '#test/support/engines/free-ports'
import { call } from './call'

const key = Buffer.alloc(32, 7)
const event = {
  subject: 'payments.paid',
  seq: 7,
  messageId: 'pay_1:paid',
  storedAt: new Date('2026-11-29T01:02:03.456Z'),
  payload: '{"wallet":"0xAb", "amount":"12345678901234567890","n":1.0,"text":"é"}',
}

type Got = { method: string; path: string; headers: Headers; text: string }
const got: Got[] = []
let answer: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 204 })
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 60,
  async fetch(request) {
    const { method, headers, url } = request
    got.push({ method, path: new URL(url).pathname, headers, text: await request.text() })
    return answer(request)
  },
})
afterAll(() => server.stop(true))
afterEach(() => {
  got.length = 0
})
const endpoint = { url: `${server.url}events`, keys: [key], clock: Date.now }
const answering = (response: typeof answer) => {
  answer = response
  return call(endpoint, event)
}

test('a call carries the payload byte for byte, under the id of the event, signed at the time of the call', async () => {
  const before = Math.floor(Date.now() / 1_000)
  expect(await answering(() => new Response('ok'))).toEqual({ taken: true })
  const [{ method, path, headers, text }] = got as [Got]
  expect([method, path]).toEqual(['POST', '/events'])
  expect(text).toBe(`{"type":"payments.paid","timestamp":"2026-11-29T01:02:03.456Z","data":${event.payload}}`)
  expect(headers.get('content-type')).toBe('application/json')
  expect(headers.get('webhook-id')).toBe('pay_1:paid')
  const at = Number(headers.get('webhook-timestamp'))
  expect(at).toBeGreaterThanOrEqual(before)
  expect(at).toBeLessThanOrEqual(Date.now() / 1_000)
  const signature = createHmac('sha256', key).update(`pay_1:paid.${at}.${text}`).digest('base64')
  expect(headers.get('webhook-signature')).toBe(`v1,${signature}`)
})

test('an id that a header cannot carry gives way to the place in the stream', async () => {
  answer = () => new Response(null, { status: 204 })
  for (const messageId of ['', 'a b', 'é', 'x'.repeat(257)]) await call(endpoint, { ...event, messageId })
  expect(got.map(({ headers }) => headers.get('webhook-id'))).toEqual(Array(4).fill('EVENTS:7'))
})

test.each([200, 201, 202, 204, 299])('%i takes the event', async (status) => {
  expect(await answering(() => new Response(null, { status }))).toEqual({ taken: true })
})

test.each([300, 304, 400, 401, 404, 410, 429, 500, 503])('%i does not take the event', async (status) => {
  expect(await answering(() => new Response(null, { status }))).toEqual({ taken: false, why: `answered ${status}` })
})

test.each([301, 302, 307, 308])('security: a redirect by %i is not followed', async (status) => {
  const elsewhere = () => new Response(null, { status, headers: { location: `${server.url}other` } })
  expect(await answering(elsewhere)).toEqual({ taken: false, why: `answered ${status}` })
  expect(got.map(({ path }) => path)).toEqual(['/events'])
})

describe('a body', () => {
  test('that never ends is not read: the status is the answer', async () => {
    let sent = 0
    const gone = Promise.withResolvers<void>()
    const endless = new ReadableStream({
      async pull(controller) {
        sent += 1
        controller.enqueue(new Uint8Array(65_536))
        await Bun.sleep(1)
      },
      cancel: () => gone.resolve(),
    })
    const startedMs = performance.now()
    expect(await answering(() => new Response(endless))).toEqual({ taken: true })
    expect(performance.now() - startedMs).toBeLessThan(5_000)
    await gone.promise
    expect(sent).toBeLessThan(2_000)
  })

  test('that trickles delays nothing', async () => {
    const trickle = new ReadableStream({
      async pull(controller) {
        controller.enqueue(new Uint8Array(1))
        await Bun.sleep(3_000)
      },
    })
    const startedMs = performance.now()
    expect(await answering(() => new Response(trickle, { status: 500 }))).toMatchObject({ why: 'answered 500' })
    expect(performance.now() - startedMs).toBeLessThan(5_000)
  })
})

describe('an endpoint', () => {
  test('that listens nowhere is a failed call, whose reason does not quote the URL', async () => {
    const url = `http://127.0.0.1:${await freePort()}/token-in-the-path`
    const called = await call({ ...endpoint, url }, event)
    expect(called.taken).toBe(false)
    expect(JSON.stringify(called)).not.toContain('token')
    expect(called).toMatchObject({ why: expect.stringMatching(/refused/i) })
  })

  test('that does not exist is a failed call', async () => {
    const called = await call({ ...endpoint, url: 'http://nowhere.invalid/events' }, event)
    expect(called.taken).toBe(false)
  })

  /** Accepts connections and answers with what `speak` writes. */
  async function silent(speak: (socket: Socket) => void) {
    const listener = createServer(speak)
    const { promise, resolve } = Promise.withResolvers<void>()
    listener.listen(0, '127.0.0.1', resolve)
    await promise
    const { port } = listener.address() as { port: number }
    return {
      url: `http://127.0.0.1:${port}/`,
      [Symbol.dispose]: () => void listener.close(),
    }
  }

  test.each([
    ['accepts and says nothing', () => {}],
    [
      'sends its headers byte by byte',
      (socket: Socket) => {
        const timer = setInterval(() => socket.write('a'), 500)
        socket.write('HTTP/1.1 200 OK\r\nx: ')
        socket.on('close', () => clearInterval(timer)).on('error', () => {})
      },
    ],
  ] as const)(
    'that %s ends the call at the deadline',
    async (_, speak) => {
      using listener = await silent(speak)
      const startedMs = performance.now()
      const called = await call({ ...endpoint, url: listener.url }, event)
      expect(called).toEqual({ taken: false, why: 'no answer within 10 s' })
      expect(performance.now() - startedMs).toBeLessThan(15_000)
    },
    30_000,
  )

  test.each(['', 'garbage\r\n\r\n', 'HTTP/1.1 200 OK\r\n'])(
    'that answers %j and hangs up is a failed call',
    async (words) => {
      using listener = await silent((socket) => void socket.on('error', () => {}).end(words))
      expect((await call({ ...endpoint, url: listener.url }, event)).taken).toBe(false)
    },
  )
})

test('a call ends when the gateway stops', async () => {
  const stop = new AbortController()
  const arrived = Promise.withResolvers<void>()
  answer = async () => {
    arrived.resolve()
    await Bun.sleep(30_000)
    return new Response()
  }
  const calling = call(endpoint, event, { stop: stop.signal })
  await arrived.promise
  stop.abort()
  expect(await calling).toEqual({ taken: false, why: 'gateway is stopping' })
})
