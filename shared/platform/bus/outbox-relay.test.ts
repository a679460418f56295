import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { pgSchema } from 'drizzle-orm/pg-core'
import { type Bus, openBus } from '#platform/bus/open'
import { relayOutbox } from '#platform/bus/outbox-relay'
import { publish } from '#platform/bus/publish'
import { messagingTables } from '#platform/db/messaging'
import { type Database, openDatabase } from '#platform/db/open'
import { announce } from '#platform/db/outbox.store'
import { openLog } from '#platform/log'
import { DripOrdered } from '#shared/messages/relay'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { provisionNats, type ScratchServer, startScratchServer } from '#test/support/scratch-server'
import { waitUntil } from '#test/support/wait'

const { outbox } = messagingTables(pgSchema('gateway'))
const log = openLog('gateway', 'silent')
const onFatal = () => {}
const wallet = `0x${'11'.repeat(20)}`

let nats: ScratchServer
let rows: ScratchPostgres
const opened: AsyncDisposable[] = []
const openRows = (): Database => {
  const database = openDatabase({ url: rows.adminUrl, name: 'suite', log, onFatal, max: 4 })
  opened.push(database)
  return database
}
const openGateway = async (): Promise<Bus> => {
  const name = 'gateway'
  const bus = await openBus({
    url: nats.url,
    user: name,
    password: nats.passwords[name],
    name,
    log,
    onFatal,
  })
  opened.push(bus)
  return bus
}
beforeAll(async () => {
  ;[nats, rows] = await Promise.all([startScratchServer(), startScratchPostgres()])
  await provision()
})
afterAll(async () => {
  for (const part of opened.reverse()) await part[Symbol.asyncDispose]()
  await Promise.all([nats?.[Symbol.asyncDispose](), rows?.[Symbol.asyncDispose]()])
})

const provision = () => provisionNats({ url: nats.url, user: 'admin', password: nats.passwords.admin })
/** Deletes the stream, of which the publisher learns at once. */
async function loseStream() {
  const admin = await nats.connectAs('admin')
  await (await admin.jetstreamManager()).streams.delete('COMMANDS')
  await admin.close()
}

const rowOf = async (database: Database, id: string) =>
  (await database.read((db) => db.select().from(outbox).where(eq(outbox.id, id))))[0]
const orderIn = (database: Database, id: string) =>
  database.transaction((tx) => announce(tx, outbox, DripOrdered, id, { wallet }))
async function stored(): Promise<string[]> {
  const admin = await nats.connectAs('admin')
  const { state } = await (await admin.jetstreamManager()).streams.info('COMMANDS')
  const stream = await admin.jetstream().streams.get('COMMANDS')
  const ids: string[] = []
  for (let seq = state.first_seq; seq <= state.last_seq; seq++)
    ids.push((await stream.getMessage({ seq })).header.get('Nats-Msg-Id'))
  await admin.close()
  return ids
}

describe('a committed message', () => {
  // guard: a message is a row written by the transaction it reports
  test('of a process that died before publishing is published by another', async () => {
    const ended = openRows()
    await orderIn(ended, 'ended')
    const other = openRows()
    await using _relay = relayOutbox({ bus: await openGateway(), database: other, outbox, log })
    await waitUntil('the order', async () => (await stored()).includes('ended'))
  })

  test('leased before the database clock was set back is published', async () => {
    const database = openRows()
    await orderIn(database, 'set back')
    const leasedUntil = new Date(Date.now() + 3_600_000)
    await database.run((db) => db.update(outbox).set({ leasedUntil }).where(eq(outbox.id, 'set back')))
    await using _relay = relayOutbox({ bus: await openGateway(), database, outbox, log })
    await waitUntil('the order', async () => (await stored()).includes('set back'), 10_000)
  })

  // guard: a message is noted as sent after the broker confirmed it
  test('without a confirmation is not marked as published, and is published once a broker confirms', async () => {
    const database = openRows()
    const bus = await openGateway()
    await loseStream()
    const first = relayOutbox({ bus, database, outbox, log })
    await orderIn(database, 'unconfirmed')
    await first[Symbol.asyncDispose]()
    expect(await rowOf(database, 'unconfirmed')).toMatchObject({ publishedAt: null })
    await provision()
    await using _relay = relayOutbox({ bus, database, outbox, log })
    await waitUntil('the order', async () => (await stored()).includes('unconfirmed'))
    await waitUntil('its note', async () => (await rowOf(database, 'unconfirmed'))?.publishedAt)
  })

  // guard: a message is identified by an id derived from its cause
  test('is one message under its id, however often it is announced and published', async () => {
    const database = openRows()
    for (let time = 0; time < 3; time++) await orderIn(database, 'one')
    const bus = await openGateway()
    const message = { subject: 'relay.drip', id: 'one', payload: { wallet } }
    expect(await publish(bus, message)).toBe('stored')
    expect(await publish(bus, message)).toBe('duplicate')
    expect((await stored()).filter((id) => id === 'one')).toHaveLength(1)
  })
})

test('a message of a transaction that fails is not published', async () => {
  const database = openRows()
  const failed = database.transaction(async (tx) => {
    announce(tx, outbox, DripOrdered, 'failed', { wallet })
    throw new Error('it does not commit')
  })
  await expect(failed).rejects.toThrow('it does not commit')
  expect(await rowOf(database, 'failed')).toBeUndefined()
})
