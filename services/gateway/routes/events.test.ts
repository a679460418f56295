import { expect, test } from 'bun:test'
import { within } from '#platform/deadline'
import { dayEndMs } from '#shared/money/day'
import { waitUntil } from '#test/support/wait'
import { idleMs } from '../events/watch'
import { listen } from '../listen'
import { fixtureOf, newsInMemory, okay, type Replies } from '../test-support/fixture'
import { ana, budi, headerOf, nowMs, nowSeconds } from '../test-support/wallets'

const none = okay({ inFlight: [], items: [] })
const payment = (status: string) => okay({ inFlight: [{ id: 'pay_1', status }], items: [] })
const account = (over: object = {}) => okay({ frozen: false, blockNumber: '1', blockTime: '1', ...over })

/** Time in ms in which an open stream with an item in flight reads at least once. */
const quietMs = 2_500

async function opened(over: Parameters<typeof fixtureOf>[1] = {}) {
  const replies: Replies = {
    'chain.account': account(),
    'payments.activity': payment('awaiting_payment'),
    'payouts.activity': none,
    'chain.activity': none,
  }
  const fixture = await fixtureOf(replies, over)
  const connect = async ({ who = ana, until = nowSeconds + 3_600, after = '' } = {}) => {
    const headers: Record<string, string> = { authorization: await headerOf(who, until) }
    if (after) headers['last-event-id'] = after
    const response = await fixture.call('GET', '/me/events', { headers })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    return { response, next: async () => (await reader.read()).value, leave: () => reader.cancel() }
  }
  return { ...fixture, replies, connect }
}

const idOf = (event: string | undefined) => /^id: (\S+)$/m.exec(event ?? '')?.[1]

test('a page is told of the state at once, and again after each change', async () => {
  const { replies, connect } = await opened()
  const { response, next, leave } = await connect()
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const first = await next()
  expect(first).toMatch(/^id: \S+\nevent: changed\ndata: {}\n\n$/)
  replies['payments.activity'] = payment('paid')
  const second = await next()
  expect(idOf(second)).not.toBe(idOf(first)!)
  await leave()
})

test('a page is told of a new order at once, also one that another instance took', async () => {
  const news = newsInMemory()
  const { replies, connect } = await opened({ news })
  replies['payments.activity'] = none
  const { next, leave } = await connect()
  const first = await next()
  const other = await fixtureOf({ 'payments.settlement.create': okay({}) }, { news })
  const headers = { authorization: await headerOf(ana, nowSeconds + 3_600) }
  replies['payments.activity'] = payment('awaiting_payment')
  await other.call('POST', '/settlements', { headers, body: { quoteId: crypto.randomUUID() } })
  expect(other.asked.map(([subject]) => subject)).toContain('payments.settlement.create')
  expect(idOf(await within(next(), idleMs / 2, 'the news'))).not.toBe(idOf(first)!)
  await leave()
})

test('a page is told when a debt becomes due, and when a day of limits begins, which no event announces', async () => {
  let timeMs = nowMs
  const { replies, connect } = await opened({ clock: () => timeMs })
  const cycle = { number: 1, openedAt: '1', dueAt: '100', defaultsAt: '200' }
  replies['chain.account'] = account({ cycle, blockTime: '100' })
  const { next, leave } = await connect()
  const ids = new Set([idOf(await next())])
  replies['chain.account'] = account({ cycle, blockTime: '101' })
  ids.add(idOf(await within(next(), 2 * quietMs, 'the due date')))
  timeMs = dayEndMs('USD/IDR', nowMs)
  ids.add(idOf(await within(next(), 2 * quietMs, 'the new day')))
  expect(ids.size).toBe(3)
  await leave()
})

test('a page that reconnects is told only of what it has not seen', async () => {
  const { replies, connect } = await opened()
  const before = await connect()
  const known = idOf(await before.next())!
  await before.leave()
  replies['chain.account'] = account({ blockNumber: '2', blockTime: '2' })
  const again = await connect({ after: known })
  const told = again.next()
  replies['chain.account'] = account({ frozen: true })
  expect(idOf(await told)).not.toBe(known)
  await again.leave()
  const later = await connect({ after: known })
  expect(idOf(await later.next())).not.toBe(known)
  await later.leave()
})

test('a page is refused, not left waiting, while a service does not respond', async () => {
  const { replies, connect } = await opened()
  delete replies['payouts.activity']
  const { response } = await connect()
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2'])
})

test('a stream ends with its session', async () => {
  const { connect } = await opened({ clock: () => nowMs + 900 })
  const { next } = await connect({ until: nowSeconds + 1 })
  expect(await next()).toContain('event: changed')
  expect(await next()).toBeUndefined()
})

test('a sixth stream of a wallet ends its oldest, and none of another wallet', async () => {
  const { replies, connect } = await opened()
  const streams = []
  for (let count = 0; count < 5; count++) streams.push(await connect())
  const other = await connect({ who: budi })
  for (const { next } of [...streams, other]) await next()
  const sixth = await connect()
  expect(await streams[0]!.next()).toBeUndefined()
  await sixth.next()
  replies['payments.activity'] = payment('paid')
  for (const { next } of [...streams.slice(1), sixth, other]) expect(await next()).toContain('event: changed')
  for (const { leave } of [...streams.slice(1), sixth, other]) await leave()
})

test('a stream ends when this instance shuts down', async () => {
  const shutdown = new AbortController()
  const { connect } = await opened({ leaving: shutdown.signal })
  const { next } = await connect()
  await next()
  shutdown.abort()
  expect(await next()).toBeUndefined()
})

test('the gateway reads nothing more for a page that has left', async () => {
  const { app, asked } = await opened()
  await using server = listen(app, { host: '127.0.0.1', port: 0 })
  const left = new AbortController()
  const headers = { authorization: await headerOf(ana, nowSeconds + 3_600) }
  const response = await fetch(`http://127.0.0.1:${server.port}/me/events`, { headers, signal: left.signal })
  await response.body!.getReader().read()
  left.abort()
  const isQuiet = async () => {
    asked.length = 0
    await Bun.sleep(quietMs)
    return asked.length === 0
  }
  await waitUntil('reads to end', isQuiet, 12_000)
})
