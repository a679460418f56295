import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { openDatabaseClock } from '#platform/db/clock'
import { type Database, openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

const log = openLog('payments', 'silent')
let server: ScratchPostgres
let admin: Sql
let database: Database
beforeAll(async () => {
  server = await startScratchPostgres('empty')
  admin = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  database = openDatabase({ url: server.adminUrl, name: 'suite', log, onFatal: () => {} })
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
  await admin.end({ timeout: 1 })
  await server[Symbol.asyncDispose]()
})

const ofTheDatabase = async () => {
  const [row] = await admin`select extract(epoch from clock_timestamp()) * 1000 as ms`
  return Number(row!.ms)
}

test.each([-3_600_000, 0, 3_600_000])(
  "the clock follows the database if this machine's clock is %p ms ahead, or is set so later",
  async (aheadMs) => {
    const { now } = Date
    const skewed = () => spyOn(Date, 'now').mockImplementation(() => now() + aheadMs)
    const early = skewed()
    await using told = await openDatabaseClock(database, log)
    early.mockRestore()
    await using before = await openDatabaseClock(database, log)
    const late = skewed()
    try {
      for (const { clock } of [told, before]) {
        const [from, time, to] = [await ofTheDatabase(), clock(), await ofTheDatabase()]
        expect(time).toBeGreaterThan(from - 2_000)
        expect(time).toBeLessThan(to + 2_000)
      }
    } finally {
      late.mockRestore()
    }
  },
)

test('the clock advances while the database does not respond', async () => {
  const gone = { read: () => Promise.reject(new Error('gone')) } as unknown as Database
  await using told = await openDatabaseClock(gone, log)
  expect(Math.abs(told.clock() - Date.now())).toBeLessThan(2_000)
})
