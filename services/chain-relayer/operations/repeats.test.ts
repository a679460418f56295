import { afterAll, beforeAll, expect, test } from 'bun:test'
import { consume } from '#platform/bus/consume'
import { type Bus, openBus } from '#platform/bus/open'
import { relayOutbox } from '#platform/bus/outbox-relay'
import { publish } from '#platform/bus/publish'
import { type Database, openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import { TakeOrdered } from '#shared/messages/relay'
import type { ServiceName } from '#shared/messages/topic'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { provisionNats, type ScratchServer, startScratchServer } from '#test/support/scratch-server'
import { waitUntil } from '#test/support/wait'
import { messaging } from '../schema.store'
import { newNonce, recipient, take } from '../test-support'
import { orderOf } from './operation'
import { findOperation } from './operation.store'
import { fail, orderReactions, settleLate } from './order'

const log = openLog('chain-relayer', 'fatal')
const onFatal = () => {}
const opened: AsyncDisposable[] = []
let nats: ScratchServer
let rows: ScratchPostgres
let payouts: Bus
let database: Database

beforeAll(async () => {
  ;[nats, rows] = await Promise.all([startScratchServer(), startScratchPostgres()])
  await provisionNats({ url: nats.url, user: 'admin', password: nats.passwords.admin })
  payouts = await busOf('payouts')
  const bus = await busOf('chain-relayer')
  const url = rows.urlAs('chain_relayer', rows.passwords.chain_relayer)
  database = openDatabase({ url, name: 'chain-relayer', log, onFatal, max: 4 })
  const outbox = relayOutbox({ bus, database, outbox: messaging.outbox, log })
  const from = { bus, consumer: 'chain-relayer' }
  const handling = { messaging, reactions: orderReactions, poke: outbox.poke, onFatal, database, log }
  opened.push(database, outbox, consume({ ...from, ...handling }))
})
afterAll(async () => {
  for (const part of opened.reverse()) await part[Symbol.asyncDispose]()
  await Promise.all([nats[Symbol.asyncDispose](), rows[Symbol.asyncDispose]()])
})

async function busOf(name: ServiceName): Promise<Bus> {
  const password = nats.passwords[name]
  const bus = await openBus({ url: nats.url, user: name, password, name, log, onFatal })
  opened.push(bus)
  return bus
}

test("a repeated command has its outcome announced again, despite the broker's duplicate window", async () => {
  const task = take({
    from: recipient,
    to: recipient,
    value: '1',
    validAfter: '0',
    validBefore: '9999999999',
    nonce: newNonce(),
    signature: `0x${'12'.repeat(65)}`,
  })
  const order = (id: string) => publish(payouts, { subject: TakeOrdered.subject, id, payload: task.payload })
  const operation = () => database.read((db) => findOperation(db, orderOf(task).id))
  const reader = await payouts.js.consumers.get('EVENTS', 'payouts')
  const heard = async () => {
    const message = await reader.next({ expires: 10_000 })
    message?.ack()
    return message?.subject
  }

  expect(await order('first')).toBe('stored')
  const stored = await waitUntil('the operation', operation)
  await database.transaction((tx) => fail(tx, stored, 'balance_too_low'))
  expect(await heard()).toBe('relay.take.failed')

  expect(await order('first')).toBe('duplicate')
  expect(await order('again 1')).toBe('stored')
  expect(await heard()).toBe('relay.take.failed')
  expect(await order('again 2')).toBe('stored')
  expect(await heard()).toBe('relay.take.failed')

  const hash = newNonce()
  const place = { txHash: hash, blockNumber: 7n, blockHash: hash }
  await database.transaction((tx) => settleLate(tx, stored, place))
  expect(await heard()).toBe('relay.take.settled')
  expect(await order('again 3')).toBe('stored')
  expect(await heard()).toBe('relay.take.settled')
})
