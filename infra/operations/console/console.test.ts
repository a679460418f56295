import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { asker } from '#platform/bus/ask'
import { type Bus, openBus } from '#platform/bus/open'
import { serve } from '#platform/bus/serve'
import { openLog } from '#platform/log'
import { feedSubject } from '#shared/messages/operations'
import { PaymentPaid } from '#shared/messages/payments'
import type { BusUser } from '#shared/messages/topic'
import { type ScratchServer, startScratchServer } from '#test/support/scratch-server'
import { waitUntil } from '#test/support/wait'
import { openConsole } from '../../../services/gateway/operators/console'
import { openFeed as openPages } from '../../../services/gateway/operators/feed'
import { consoleAnswers } from './answers'
import { openFeed } from './feed'
import { openLive } from './live'
import { openOverview } from './overview'

// These tests use a real nats-server with the permissions of both processes.

const token = 'token-of-this-start-0001'
const log = openLog('suite', 'silent')
const floors = { lowMicro: 0n, lowMinor: 0n, laneWei: 0n, copies: 1 }
const renewMs = 50

let server: ScratchServer
const open = new AsyncDisposableStack()
let gateway: Bus
/** Rows that need an operator. Undefined if they cannot be read. */
let attention: object | undefined = { exceptions: [] }
const busAs = async (user: BusUser) => {
  const { url, passwords } = server
  const one = { user, name: user, password: passwords[user] }
  return open.use(await openBus({ url, ...one, log, onFatal: () => {} }))
}

async function startOperations(ownToken = token) {
  const ends = new AsyncDisposableStack()
  const bus = await busAs('operations')
  const live = ends.use(openLive({ open: () => busAs('console'), clock: Date.now, log }))
  const overview = ends.use(
    openOverview({
      readFacts: async () => ({ unread: 'no rows here', bus: { unknown: 'not read' } }),
      readMoney: async () => ({ inFlight: [], latest: [] }),
      floors,
      clock: Date.now,
      log,
    }),
  )
  const publish = (event: object) => bus.nc.publish(feedSubject, JSON.stringify(event))
  const feed = ends.use(openFeed({ live, overview, publish, leaseMs: 1_000 }))
  const items = {
    read: async (id: string) => ({ id }),
    find: async (search: object) => ({ search }),
    attention: async () => attention ?? Promise.reject(new Error('no rows')),
  }
  const answers = consoleAnswers({ token: ownToken, items, feed, log })
  const own = {
    bus,
    name: 'operations',
    description: 'suite',
    log,
    stats: async () => ({}),
  } as const
  ends.use(await serve({ ...own, answers }))
  return () => ends.disposeAsync()
}

const leaving = new AbortController()
const consoleOf = () => {
  const ask = asker(gateway, 1_000)
  const feed = openPages({ bus: gateway, ask, log, renewMs })
  const parts = { token, hosts: [], ask, feed, log, leaving: leaving.signal }
  return openConsole(parts, async () => new Response(null, { status: 404 }))
}
const call = (path: string) => {
  const headers = { host: '127.0.0.1', authorization: `Bearer ${token}` }
  return consoleOf()(new Request(`http://127.0.0.1${path}`, { headers }), '127.0.0.1')
}

function pageOf(answer: Response) {
  const heard: { event: string; data: Record<string, unknown> }[] = []
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  const read = async () => {
    let left = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const parts = (left + value).split('\n\n')
      left = parts.pop() ?? ''
      for (const part of parts) {
        const [, event = '', data = '{}'] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? []
        if (event) heard.push({ event, data: JSON.parse(data) })
      }
    }
  }
  void read()
  const hears = (event: string, from = 0) =>
    waitUntil(`the event ${event}`, () => heard.slice(from).find((one) => one.event === event))
  return { heard, hears, close: () => reader.cancel() }
}

beforeAll(async () => {
  server = open.use(await startScratchServer())
  gateway = await busAs('gateway')
})
afterAll(() => open.disposeAsync())

describe('the console without operations', () => {
  test('without operations, the console answers 503 and the page shows the reason', async () => {
    expect((await call('/console/attention')).status).toBe(503)
    const page = pageOf(await call('/console/live'))
    expect((await page.hears('deaf')).data).toEqual({
      reason: 'The operations process does not respond.',
    })
    await page.close()
  })
})

describe('the console with operations', () => {
  test('the console shows items and lists over NATS, and reports unreadable rows', async () => {
    const end = await startOperations()
    expect(await (await call('/console/items/pay_1')).json()).toEqual({ id: 'pay_1' })
    expect(await (await call('/console/find?amount=50000&currency=IDR&other=x&state=+')).json()).toEqual({
      search: { amount: '50000', currency: 'IDR' },
    })
    expect(await (await call('/console/attention')).json()).toEqual({ exceptions: [] })
    attention = undefined
    expect((await call('/console/attention')).status).toBe(503)
    await end()
  })

  test('security: the console shows nothing for a token that operations does not know', async () => {
    const end = await startOperations('another-token-of-00001')
    expect((await call('/console/items/pay_1')).status).toBe(401)
    const page = pageOf(await call('/console/live'))
    expect((await page.hears('deaf')).data.reason).toContain('another console token')
    await page.close()
    await end()
  })

  test('the console passes messages and the overview on live, also to a page that opens later, and recovers', async () => {
    const publisher = await server.connectAs('payments')
    const paid = {
      paymentId: 'pay_1',
      kind: 'topup',
      wallet: '0x1',
      fiat: '5',
      currency: 'IDR',
      ausd: '3',
    }
    const pay = () => publisher.publish(PaymentPaid.subject, JSON.stringify(paid))
    const end = await startOperations()
    const page = pageOf(await call('/console/live'))
    await page.hears('listening')
    expect((await page.hears('overview')).data.unread).toContain(
      'cannot read the rows: no rows here: see MetricsMissing',
    )
    pay()
    expect((await page.hears('motion')).data).toMatchObject({ item: 'pay_1' })

    const later = pageOf(await call('/console/live'))
    expect((await later.hears('motion')).data).toMatchObject({ item: 'pay_1' })
    await later.close()

    const before = page.heard.length
    await end()
    await page.hears('deaf', before)
    const endAgain = await startOperations()
    await page.hears('listening', before)
    await page.close()
    await endAgain()
    await publisher.close()
  })
})
