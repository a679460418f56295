import { afterAll, expect, test } from 'bun:test'
import { announce } from '#platform/db/outbox.store'
import { AutorepayOrdered } from '#shared/messages/relay'
import { waitUntil } from '#test/support/wait'
import { outbox } from '../schema.store'
import { startBackbone } from '../test-support/dependencies'
import { ana, budi } from '../test-support/wallets'
import { openNews } from './news'

const backbone = await startBackbone()
afterAll(() => backbone[Symbol.asyncDispose]())

test('every instance hears of a wallet that one tells of, or makes an announcement about', async () => {
  const [here, there] = await Promise.all([backbone.busAs('gateway'), backbone.busAs('gateway')])
  await using _buses = { [Symbol.asyncDispose]: async () => void (await Promise.all([here, there].map(closed))) }
  const news = openNews(here, backbone.database)
  const heard: string[] = []
  openNews(there, { listen: () => {} }).listen((wallet) => heard.push(wallet))
  await there.nc.flush() // The server knows the subscription.
  news.tell(ana.address)
  await waitUntil('the first', () => heard.length === 1)
  const order = { wallet: budi.address.toLowerCase() as `0x${string}`, cycle: 1, attempt: 0 }
  await backbone.database.transaction((tx) => announce(tx, outbox, AutorepayOrdered, crypto.randomUUID(), order))
  await waitUntil('the second', () => heard.length === 2)
  expect(heard).toEqual([ana.address, order.wallet])
})

const closed = (bus: AsyncDisposable) => bus[Symbol.asyncDispose]()
