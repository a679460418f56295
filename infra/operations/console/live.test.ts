import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Bus, openBus } from '#platform/bus/open'
import { within } from '#platform/deadline'
import { openLog } from '#platform/log'
import { PaymentPaid } from '#shared/messages/payments'
import { type ScratchServer, startScratchServer } from '#test/support/scratch-server'
import { waitUntil } from '#test/support/wait'
import { type Heard, type Live, openLive } from './live'

const log = openLog('suite', 'silent')
const paid = {
  paymentId: 'pay_1',
  kind: 'topup',
  wallet: '0x1',
  fiat: '5',
  currency: 'IDR',
  ausd: '3',
}

let server: ScratchServer
const opened: Bus[] = []
let live: Live
/** If true, the next connection ends before its subscriptions are active. */
let isRefused = false
beforeAll(async () => {
  server = await startScratchServer()
  const open = async () => {
    const { url, passwords } = server
    const user = { user: 'console', name: 'console', password: passwords.console }
    const bus = await openBus({ url, ...user, log, onFatal: () => {} })
    opened.push(bus)
    if (!isRefused) return bus
    isRefused = false
    const nc = Object.assign(Object.create(bus.nc), {
      flush: () => Promise.reject(new Error('no pong')),
    })
    return { ...bus, nc }
  }
  live = openLive({ open, clock: Date.now, log, lingerMs: 50 })
})
afterAll(async () => {
  await live[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

test('the live feed sends published messages to every viewer over one bus connection, closed after the last viewer', async () => {
  const heard: Heard[] = []
  const one = live.watch((motion) => heard.push(motion))
  await one.listening
  const publisher = await server.connectAs('payments')
  publisher.publish(PaymentPaid.subject, 'not json')
  publisher.publish(PaymentPaid.subject, JSON.stringify(paid))
  await waitUntil('the message being heard', () => heard.length > 0)
  expect(heard).toEqual([expect.objectContaining({ number: 1, item: 'pay_1' })])

  const later: Heard[] = []
  const other = live.watch((motion) => later.push(motion))
  expect(other.lately()).toEqual(heard)
  one.end()
  publisher.publish(PaymentPaid.subject, JSON.stringify(paid))
  await waitUntil('the second message being heard', () => later.length > 0)
  expect(heard).toHaveLength(1)
  expect(opened).toHaveLength(1)

  other.end()
  await within(opened[0]!.nc.closed(), 60_000, 'the end of the connection')
  const anew = live.watch(() => {})
  await anew.listening
  expect([opened.length, anew.lately().length]).toEqual([2, 0])
  anew.end()
  await publisher.close()
})

test('the live feed connects again for the next viewer after its subscriptions failed', async () => {
  await opened.at(-1)!.nc.closed()
  const before = opened.length
  isRefused = true
  const first = live.watch(() => {})
  await expect(first.listening).rejects.toThrow('no pong')
  await within(opened[before]!.nc.closed(), 60_000, 'the end of the failed connection')

  const heard: Heard[] = []
  const next = live.watch((motion) => heard.push(motion))
  await next.listening
  expect(opened).toHaveLength(before + 2)
  const publisher = await server.connectAs('payments')
  publisher.publish(PaymentPaid.subject, JSON.stringify({ ...paid, paymentId: 'pay_1' }))
  publisher.publish(PaymentPaid.subject, JSON.stringify({ ...paid, paymentId: 'pay_2' }))
  await waitUntil('the last message being heard', () => heard.some(({ item }) => item === 'pay_2'))
  expect(heard.map(({ item }) => item)).toEqual(['pay_1', 'pay_2'])
  first.end()
  next.end()
  await publisher.close()
})
