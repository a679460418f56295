import { afterAll, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { pgSchema } from 'drizzle-orm/pg-core'
import { unlockBeforeSync } from '#platform/db/lock'
import { messagingTables } from '#platform/db/messaging'
import { type Db, openDatabase, type Tx } from '#platform/db/open'
import { announce, announcement, announceWith } from '#platform/db/outbox.store'
import { openLog } from '#platform/log'
import { DripOrdered } from '#shared/messages/relay'
import { startScratchPostgres } from '#test/support/scratch-postgres'

const server = await startScratchPostgres()
const log = openLog('suite', 'silent')
const database = openDatabase({ url: server.adminUrl, name: 'suite', max: 1, onFatal: () => {}, log })
afterAll(async () => {
  await database[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const syncsOf = async (db: Db) => (await db.execute(sql`show synchronous_commit`))[0]!.synchronous_commit

test('locks are released before the sync in the transaction that asks for it, and in no later one of its connection', async () => {
  const asked = await database.transaction((tx) => {
    unlockBeforeSync(tx)
    return syncsOf(tx)
  })
  expect(asked).toBe('off')
  expect(await database.transaction(syncsOf)).toBe('on')
  expect(await database.read(syncsOf)).toBe('on')
})

test('locks are released after the sync again once the transaction that asked for it has failed', async () => {
  const failing = database.transaction(async (tx) => {
    unlockBeforeSync(tx)
    await syncsOf(tx)
    throw new Error('failed')
  })
  await expect(failing).rejects.toThrow('failed')
  expect(await database.transaction(syncsOf)).toBe('on')
})

const { outbox } = messagingTables(pgSchema('gateway'))
const wallet = `0x${'11'.repeat(20)}`
const store = (tx: Tx) => announce(tx, outbox, DripOrdered, crypto.randomUUID(), { wallet })
const prepare = (tx: Tx) => announceWith(tx, outbox, [announcement(DripOrdered, crypto.randomUUID(), { wallet })])

test.each<[string, (tx: Tx) => unknown]>([
  ['before it releases its locks', (tx) => [store(tx), unlockBeforeSync(tx)]],
  ['after it released its locks', (tx) => [unlockBeforeSync(tx), store(tx)]],
  ['together with another row after it released its locks', (tx) => [unlockBeforeSync(tx), prepare(tx)]],
])('a transaction that a crash may undo fails if it announces something %s', async (_, work) => {
  await expect(database.transaction((tx) => void work(tx))).rejects.toThrow('a crash of Postgres may undo')
  expect(await database.read((db) => db.$count(outbox))).toBe(0)
})
