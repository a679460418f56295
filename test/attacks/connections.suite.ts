import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import type { Person } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { pause } from '#platform/deadline'
import { groupStack } from '../runner/group'
import { expectNothingWritten } from '../support/database'
import { newUser } from '../support/people'
import { waitUntil } from '../support/wait'

let stack: RunningStack
let person: Person
beforeAll(async () => {
  stack = groupStack()
  person = await newUser(stack)
  expect((await person.get('/me')).status).toBe(200)
})

const sockets = new Set<Socket>()
afterAll(() => {
  for (const socket of sockets) socket.destroy()
})

type ConnectionEnd = { said: string; endedMs: number | undefined; sentBytes: number }

function open(
  first: string,
  { more, everyMs = 100, endsItself = false }: Saying = {},
): { seen: ConnectionEnd; ended: Promise<void>; close: () => void } {
  const { hostname, port } = new URL(stack.info.gateway)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  const openedAt = performance.now()
  const seen: ConnectionEnd = { said: '', endedMs: undefined, sentBytes: 0 }
  const ended = Promise.withResolvers<void>()
  sockets.add(socket)
  const say = (text: string) => {
    seen.sentBytes += text.length
    socket.write(text)
  }
  const talking = more === undefined ? undefined : setInterval(() => say(more), everyMs)
  const end = () => {
    clearInterval(talking)
    seen.endedMs ??= performance.now() - openedAt
    socket.destroy()
    sockets.delete(socket)
    ended.resolve()
  }
  socket.on('connect', () => {
    say(first)
    if (endsItself) socket.end()
  })
  socket.on('data', (data) => {
    if (seen.said.length < 1_000_000) seen.said += data
  })
  socket.on('end', end).on('close', end).on('error', end)
  return { seen, ended: ended.promise, close: end }
}
type Saying = { more?: string; everyMs?: number; endsItself?: boolean }

const post = (headers: string, body = '') =>
  `POST /quote HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n${headers}\r\n${body}`
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: gateway\r\n${headers}`
const chunk = `2000\r\n${'a'.repeat(0x2000)}\r\n`
const answers = (said: string, status: number) => said.split(`HTTP/1.1 ${status} `).length - 1

/**
 * Longest time until a connection ends, in ms: 12 s for the headers (Bun's own limit), 5 s for a body, and the rest for
 * a busy machine.
 */
const boundMs = 25_000
const triesMax = 5

/**
 * Sends a text until it is answered. A client that still sends while the server closes may lose the answer to the reset
 * that follows (RFC 9112, section 9.6), so it retries.
 */
async function sayAll(first: string, saying: Saying, isAnswered: boolean): Promise<ConnectionEnd> {
  for (let tries = 1; ; tries++) {
    const { seen, ended, close } = open(first, saying)
    const isOver = await Promise.race([ended.then(() => true), pause(boundMs).then(() => false)])
    if (!isOver) {
      const stayed = { ...seen }
      close()
      return stayed
    }
    const isTakenAway = isAnswered && saying.more !== undefined && seen.said === ''
    if (!isTakenAway || tries === triesMax) return seen
  }
}

describe('a malformed or slow connection is answered or ended, and does not affect other clients', () => {
  type Case = readonly [what: string, first: string, saying: Saying, statuses: readonly number[]]
  const cases: readonly Case[] = [
    ['says nothing', '', {}, []],
    ['sends its headers a byte at a time', get('/config', 'x: '), { more: 'y' }, []],
    ['sends headers without end', get('/config'), { more: `x: ${'y'.repeat(90)}\r\n`, everyMs: 10 }, [431]],
    ['has a header of 200 KB', get('/config', `x: ${'y'.repeat(200_000)}\r\n\r\n`), {}, [431]],
    ['has 2,000 headers', get('/config', `${'x: y\r\n'.repeat(2_000)}\r\n`), {}, [431]],
    ['has a path of 100 KB', get(`/${'y'.repeat(100_000)}`, '\r\n'), {}, [431]],
    ['sends its body a byte at a time', post('Content-Length: 1000\r\n'), { more: 'a' }, [408]],
    ['never sends the rest of its body', post('Content-Length: 1000\r\n', '{'), {}, [408]],
    ['ends within its body', post('Content-Length: 1000\r\n', '{'), { endsItself: true }, []],
    ['ends within its headers', get('/config', 'x: y'), { endsItself: true }, []],
    ['sends small chunks without end', post('Transfer-Encoding: chunked\r\n'), { more: '1\r\na\r\n' }, [408]],
    ['sends big chunks without end', post('Transfer-Encoding: chunked\r\n'), { more: chunk, everyMs: 10 }, [413]],
    [
      'has a chunk of 280 TB',
      post('Transfer-Encoding: chunked\r\n', 'ffffffffffff\r\n'),
      { more: chunk, everyMs: 10 },
      [413],
    ],
    [
      'has a chunk size without end',
      post('Transfer-Encoding: chunked\r\n', '1;'),
      { more: 'x'.repeat(9_000), everyMs: 10 },
      [413],
    ],
    ['sends more than 64 KiB', post('Content-Length: 100000\r\n'), { more: 'a'.repeat(900) }, [413]],
    ['sends more than the server accepts', post('Content-Length: 9000000\r\n'), { more: 'a'.repeat(900) }, [413]],
    [
      'sends an unexpected body without end',
      `POST /nowhere HTTP/1.1\r\nHost: gateway\r\nTransfer-Encoding: chunked\r\n\r\n`,
      { more: chunk, everyMs: 10 },
      [404],
    ],
    [
      'sends a body of a GET without end',
      get('/config', 'Transfer-Encoding: chunked\r\n\r\n'),
      { more: chunk, everyMs: 10 },
      [200],
    ],
    ['has two lengths', post('Content-Length: 5\r\nContent-Length: 6\r\n', '{}    '), {}, [400]],
    ['has a length and chunks', post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), {}, [400]],
    ['has a length that is none', post('Content-Length: 5x\r\n', '{}   '), {}, [400]],
    ['does not speak HTTP', '\x16\x03\x01\x02\x00\x01\x00', {}, [400]],
  ]

  test('all malformed connections at once', async () => {
    const all: { what: string; statuses: readonly number[]; seen: ConnectionEnd }[] = []
    const others: number[] = []
    await expectNothingWritten(stack, async () => {
      all.length = 0
      let isOver = false
      const judged = cases.map(async ([what, first, saying, statuses]) => {
        all.push({ what, statuses, seen: await sayAll(first, saying, statuses.length > 0) })
      })
      void Promise.all(judged).then(() => {
        isOver = true
      })
      while (!isOver) {
        others.push((await person.get('/me')).status, (await fetch(`${stack.info.gateway}/config`)).status)
        await pause(250)
      }
    })
    expect(all).toHaveLength(cases.length)
    const wrong = all.flatMap(({ what, statuses, seen: { said, endedMs } }) => [
      ...(endedMs === undefined ? [`one that ${what} stays open`] : []),
      ...(statuses.some((status) => answers(said, status) !== 1) || (statuses.length === 0 && said !== '')
        ? [`one that ${what} is answered: ${said.slice(0, 80)}`]
        : []),
    ])
    expect(wrong).toEqual([])
    // A busy machine sometimes answers 503.
    const answered = others.filter((status) => status === 200)
    expect(others.filter((status) => status !== 200 && status !== 503)).toEqual([])
    expect(answered.length).toBeGreaterThan(others.length * 0.75)
  })
})

describe('a well-formed connection', () => {
  test('may send several requests before it reads the first response, if each is answered at once', async () => {
    const connection = open(`${get('/health', '\r\n').repeat(20)}${get('/nowhere', 'Connection: close\r\n\r\n')}`)
    await connection.ended
    const { said } = connection.seen
    expect([answers(said, 200), answers(said, 404)]).toEqual([20, 1])
    expect(said.trimEnd().endsWith('{"error":"not found"}')).toBe(true)
  })

  test('may close its sending half and is still answered', async () => {
    const connection = open(get('/nowhere', '\r\n'), { endsItself: true })
    await connection.ended
    expect(answers(connection.seen.said, 404)).toBe(1)
  })

  test('whose request is refused before its body was read can be used again', async () => {
    const refused = `POST /nowhere HTTP/1.1\r\nHost: gateway\r\nContent-Length: 2\r\n\r\n{}`
    const connection = open(refused.repeat(3))
    await waitUntil('three answers', () => answers(connection.seen.said, 404) === 3)
    expect(connection.seen.said).not.toMatch(/connection: close/i)
    connection.close()
  })
})
