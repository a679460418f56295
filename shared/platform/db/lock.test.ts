import { afterAll, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { announceAtCommit } from '#platform/db/after-commit'
import { unlockBeforeSync } from '#platform/db/lock'
import { type Db, openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import { startScratchPostgres } from '#test/support/scratch-postgres'

const server = await startScratchPostgres('empty')
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

test('a transaction that a power cut may undo announces nothing', async () => {
  const announcing = database.transaction(async (tx) => {
    unlockBeforeSync(tx)
    announceAtCommit(tx, 'a message')
  })
  await expect(announcing).rejects.toThrow('a power cut may undo')
})
