import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { pgSchema } from 'drizzle-orm/pg-core'
import { waitUntil } from '#infra/local/wait'
import { provisionNats } from '#infra/nats/provision'
import { consume } from '#platform/bus/consume'
import { type Bus, openBus } from '#platform/bus/open'
import { relayOutbox } from '#platform/bus/outbox-relay'
import { reactTo } from '#platform/bus/reaction'
import { messagingTables } from '#platform/db/messaging'
import { type Database, openDatabase } from '#platform/db/open'
import { announce } from '#platform/db/outbox.store'
import { openLog } from '#platform/log'
import { idFor } from '#shared/ids'
import { RevokeOrdered } from '#shared/messages/relay'
import type { ServiceName } from '#shared/messages/topic'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { type ScratchServer, startScratchServer } from '#test/support/scratch-server'

const log = openLog('drill', 'fatal')
const onFatal = () => {}
const ordering = messagingTables(pgSchema('payments'))
const relaying = messagingTables(pgSchema('chain_relayer'))
const opened: AsyncDisposable[] = []

let nats: ScratchServer
let rows: ScratchPostgres
let payments: { bus: Bus; database: Database }
let relayer: { bus: Bus; database: Database }
beforeAll(async () => {
  ;[nats, rows] = await Promise.all([startScratchServer(), startScratchPostgres()])
  await provision()
  payments = await openAs('payments', 'payments')
  relayer = await openAs('chain-relayer', 'chain_relayer')
})
afterAll(async () => {
  for (const part of opened.reverse()) await part[Symbol.asyncDispose]()
  await Promise.all([nats[Symbol.asyncDispose](), rows[Symbol.asyncDispose]()])
})

const provision = () => provisionNats({ url: nats.url, user: 'admin', password: nats.passwords.admin })

async function openAs(name: ServiceName, role: 'payments' | 'chain_relayer') {
  const bus = await openBus({
    url: nats.url,
    user: name,
    password: nats.passwords[name],
    name,
    log,
    onFatal,
  })
  const url = rows.urlAs(role, rows.passwords[role])
  const database = openDatabase({ url, name, log, onFatal, max: 4 })
  opened.push(bus, database)
  return { bus, database }
}

const refOf = (id: string) => idFor('payment', id)
const order = (id: string) => ({
  refId: refOf(id),
  wallet: `0x${'1'.repeat(40)}`,
  of: 'topup' as const,
})
const orderAll = (...ids: string[]) =>
  payments.database.transaction(async (tx) => {
    for (const id of ids) announce(tx, ordering.outbox, RevokeOrdered, id, order(id))
  })

describe('after JetStream lost its whole store', () => {
  test('provisioning restores the running services, and nothing is done twice', async () => {
    const done: string[] = []
    const revoking = reactTo(RevokeOrdered, {
      apply: async (tx, { refId }) => {
        await tx.execute(sql`select`) // As every reaction, it reads before it does anything.
        done.push(refId)
      },
    })
    opened.push(
      relayOutbox({ ...payments, outbox: ordering.outbox, log }),
      consume({
        ...relayer,
        consumer: 'chain-relayer',
        reactions: [revoking],
        messaging: relaying,
        log,
        poke: () => {},
        onFatal,
      }),
    )
    await orderAll('before')
    await waitUntil('the first order', () => done.includes(refOf('before')))
    await waitUntil('it being noted as published', async () => {
      const [row] = await payments.database.read((db) =>
        db.select().from(ordering.outbox).where(eq(ordering.outbox.id, 'before')),
      )
      return row!.publishedAt !== null
    })

    await nats.stop()
    await orderAll('meanwhile')
    nats.loseStore()
    await nats.start()
    await provision()
    await orderAll('after')
    // An operator does the same to publish everything from Postgres again.
    await payments.database.read((db) =>
      db.update(ordering.outbox).set({ publishedAt: null, leasedUntil: null }).where(eq(ordering.outbox.id, 'before')),
    )

    await waitUntil('the later orders', () => done.length >= 3)
    const resent = await relayer.bus.js.consumers.get('COMMANDS', 'chain-relayer')
    await waitUntil('an empty stream', async () => {
      const info = await resent.info()
      return info.delivered.stream_seq === 3 && info.num_pending + info.num_ack_pending === 0
    })
    expect(done.toSorted()).toEqual(['after', 'before', 'meanwhile'].map(refOf).toSorted())
  })
})
