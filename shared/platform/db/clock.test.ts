import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { openDatabaseClock } from '#platform/db/clock'
import { type Database, openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { waitUntil } from '#test/support/wait'

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

test('a step of the clock of Postgres raises an alarm once, and is counted', async () => {
  const lines: { msg: string; alarm?: boolean; aheadMs?: number }[] = []
  const told = openLog('payments', 'info', { write: (line) => void lines.push(JSON.parse(line)) })
  let aheadMs = 0
  const stepped = {
    read: async () => [{ ms: (await ofTheDatabase()) + aheadMs }],
  } as unknown as Database
  await using clock = await openDatabaseClock(stepped, told, 20)
  expect(clock.steps()).toBe(0)
  aheadMs = 7_200_000
  await waitUntil('the alarm', () => lines.length > 0)
  const readAt = clock.clock()
  await waitUntil('a later reading', () => clock.clock() > readAt + 100)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ msg: 'clock of Postgres was set', alarm: true })
  expect(Math.round(lines[0]!.aheadMs! / 10_000)).toBe(720)
  expect(clock.steps()).toBe(1)
})
