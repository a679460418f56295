import { afterEach, expect, test } from 'bun:test'
import { openClient } from '#shared/client/client'
import { learnServiceTime } from '#shared/client/service-time'

const account = {
  address: '0xAb' as const,
  signMessage: async () => '0x5160' as const,
  signTypedData: async () => '0x5160' as const,
}

const streamOf = (...parts: readonly string[]) =>
  new Response(parts.join(''), { headers: { 'content-type': 'text/event-stream' } })

/** Watches until `count` calls, with a service that gives these answers in turn. */
async function watched(count: number, answers: readonly (() => Response)[], everyMs?: number) {
  const stop = new AbortController()
  const sent: Record<string, string>[] = []
  const client = openClient({
    baseUrl: 'https://service.example',
    account,
    fetch: async (_, { headers }) => {
      sent.push(headers as Record<string, string>)
      return (answers[sent.length - 1] ?? (() => Response.error()))()
    },
  })
  let calls = 0
  const onChange = () => {
    calls += 1
    if (calls >= count) stop.abort()
  }
  await client.watch(onChange, { signal: stop.signal, ...(everyMs && { everyMs }) })
  return { calls, sent }
}

const { Response: streaming } = globalThis
afterEach(() => void Object.assign(globalThis, { Response: streaming }))

test('the client tells of each change, and names the last one when it connects again', async () => {
  const { calls, sent } = await watched(4, [
    () =>
      streamOf(
        ': still here\n\nid: a\nevent: changed\ndata: {}\n\n',
        'id: b\nevent: changed\ndata: {}\n\nid: c\nevent',
      ),
    () => streamOf('id: c\nevent: changed\ndata: {}\n\n'),
  ])
  expect(calls).toBe(4)
  expect(sent.map((headers) => headers['last-event-id'])).toEqual([undefined, 'b'])
})

test('a watch on a device with a wrong clock signs in again by the clock of the service', async () => {
  const serverMs = Date.now() + 3 * 86_400_000
  const { sent } = await watched(2, [
    () => new Response('{}', { status: 401, headers: { date: new Date(serverMs).toUTCString() } }),
    () => streamOf('id: a\nevent: changed\ndata: {}\n\n'),
  ])
  const ends = sent.map(({ authorization }) => Number(authorization!.split('.')[1]))
  expect(ends[1]! - ends[0]!).toBeGreaterThan(2 * 86_400)
  learnServiceTime(Date.now())
})

test('the client connects again after an error page and a lost connection', async () => {
  const { sent } = await watched(2, [
    () => new Response('bad gateway', { status: 502 }),
    () => {
      throw new Error('connection lost')
    },
    () => streamOf('id: a\nevent: changed\ndata: {}\n\n'),
  ])
  expect(sent).toHaveLength(3)
})

test('a user who declines to sign is not asked again, and followed once another request has a session', async () => {
  const stop = new AbortController()
  let asked = 0
  let declines = true
  const opened: (string | null)[] = []
  const client = openClient({
    baseUrl: 'https://service.example',
    account: {
      ...account,
      signMessage: async () => {
        asked += 1
        if (declines) throw new Error('User rejected the request.')
        return '0x5160'
      },
    },
    fetch: async (url, { headers }) => {
      if (!url.endsWith('/me/events')) return Response.json({})
      opened.push(new Headers(headers).get('authorization'))
      stop.abort()
      return streamOf()
    },
  })
  const watching = client.watch(() => {}, { signal: stop.signal })
  await Bun.sleep(1_500)
  expect([asked, opened]).toEqual([1, []])
  declines = false
  await client.me()
  await watching
  expect(asked).toBe(2)
  expect(opened).toEqual([expect.stringContaining('.0x5160')])
})

test('where responses cannot be read while they arrive, the client asks its caller to read at intervals', async () => {
  Object.assign(globalThis, { Response: class {} })
  const { calls, sent } = await watched(3, [], 1)
  expect([calls, sent]).toEqual([3, []])
})

test('where the client reads at intervals, a user who declines to sign is asked twice at most', async () => {
  Object.assign(globalThis, { Response: class {} })
  const stop = new AbortController()
  let asked = 0
  const signMessage = async () => {
    asked += 1
    throw new Error('User rejected the request.')
  }
  const client = openClient({ baseUrl: 'https://service.example', account: { ...account, signMessage } })
  const show = () => void client.activity().catch(() => {})
  const watching = client.watch(show, { signal: stop.signal, everyMs: 1 })
  await Bun.sleep(50)
  stop.abort()
  await watching
  expect(asked).toBeLessThanOrEqual(2)
})
