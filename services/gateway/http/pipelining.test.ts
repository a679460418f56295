import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { within } from '#platform/deadline'
import { waitUntil } from '#test/support/wait'
import { listen } from '../listen'
import { fixtureOf, streamInMemory } from '../test-support/fixture'
import { sendRaw } from '../test-support/raw'

// These tests describe Bun 1.4.5 with pipelined requests (oven-sh/bun#38128). If a version answers them all,
// the second group fails, and the guide's sentence about pipelining can go.

const { stored, publish } = streamInMemory()
let gate = Promise.withResolvers<void>()
const slowly: typeof publish = async (message) => {
  const published = await publish(message)
  await gate.promise
  return published
}
const fixture = await fixtureOf({}, { publish: slowly })
const server = listen(fixture.app, { host: '127.0.0.1', port: 0 })
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(() => {
  stored.clear()
  gate = Promise.withResolvers()
})

const health = 'GET /health HTTP/1.1\r\nHost: gateway\r\n\r\n'
const last = 'GET /nowhere HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n'
const delivery = (id: string) =>
  'POST /webhooks/payments HTTP/1.1\r\nHost: gateway\r\nX-Callback-Token: token-id\r\n' +
  `Webhook-Id: ${id}\r\nContent-Length: 2\r\n\r\n{}`

/** Sends `later` once a delivery is pending, and returns all data until the end. */
async function exchange(first: string, later?: string): Promise<string> {
  const socket = connect({ port: server.port, host: '127.0.0.1' })
  let received = ''
  socket.on('data', (data) => {
    received += data
  })
  const ended = new Promise<void>((resolve) => void socket.on('close', () => resolve()))
  socket.write(first)
  if (later !== undefined) {
    await waitUntil('a pending delivery', () => stored.size > 0)
    socket.write(later)
  }
  await within(ended, 10_000, 'the end of the connection').finally(() => socket.destroy())
  return received
}
const statusesIn = (received: string) =>
  [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))

describe('pipelined requests are answered in order', () => {
  test('if each response is ready before the next request is read', async () => {
    const received = await exchange(`${health.repeat(3)}${last}`)
    expect(statusesIn(received)).toEqual([200, 200, 200, 404])
  })
})

describe('a request pipelined behind a pending delivery closes the connection without a response', () => {
  test.each([
    ['in the same segment', delivery('first') + delivery('second'), undefined],
    ['in a later segment', delivery('first'), delivery('second')],
    ['that is a GET', delivery('first'), health],
  ])('%s; the first is recorded once, and its repeat is a duplicate', async (_, first, later) => {
    expect(await exchange(first, later)).toBe('')
    expect(stored.size).toBe(1)
    gate.resolve()
    const bodies = []
    for (const id of ['first', 'second']) bodies.push((await sendRaw(server.port, delivery(id))).body)
    expect(bodies).toEqual(['{"status":"duplicate"}', '{"status":"recorded"}'])
  })
})
