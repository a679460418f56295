import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { type Database, openDatabase } from '#shared/db/open'
import { openLog } from '#shared/log'
import { type PostgresPair, startPostgresPair } from '#test/support/engines/postgres-pair'

/** What a URL must encode, and what separates hosts, ports and users in one. */
const password = 'p@ss,w:rd/1?'
const log = openLog('payments', 'silent')
let fatal = 0
let pair: PostgresPair
let database: Database

beforeAll(async () => {
  pair = await startPostgresPair({ durable: false })
  await pair.onPrimary(async (admin) => {
    await admin`create table kept (word text)`
    await admin.unsafe(`create role payments login password '${password}'`)
    await admin`grant all on kept to payments`
  })
  const url = pair.urlAs('payments', password)
  database = openDatabase({ url, name: 'suite', log, onFatal: () => void fatal++, max: 4 })
})
afterAll(async () => {
  await database?.[Symbol.asyncDispose]()
  await pair?.[Symbol.asyncDispose]()
})

const insertAll = () =>
  Promise.allSettled(
    Array.from({ length: 8 }, (_, index) =>
      index % 2 === 0
        ? database.run((db) => db.execute(sql`insert into kept values ('alone')`))
        : database.transaction((tx) => tx.execute(sql`insert into kept values ('together')`)),
    ),
  )
const outcomes = async () => {
  const all = await insertAll()
  return [...new Set(all.map((one) => (one.status === 'fulfilled' ? 'written' : 'refused')))]
}
const rows = () =>
  pair.onPrimary(async (admin) => (await admin`select count(*)::int as n from kept`)[0]!.n)

test('of two machines, every connection goes to the one that takes writes', async () => {
  expect(await outcomes()).toEqual(['written'])
  expect(await rows()).toBe(8)
})

test('while the standby is silent nothing is confirmed, whatever may end a statement', async () => {
  await pair.suspendStandby()
  const insert = pair.onPrimary(async (admin) => {
    await admin`set statement_timeout = 200`
    await admin`insert into kept values ('later')`
    return 'confirmed'
  })
  expect(await Promise.race([insert, Bun.sleep(1_500)])).toBeUndefined()
  pair.resumeStandby()
  expect(await insert).toBe('confirmed')
})

test('while none takes writes a call is refused, soon, and the process goes on', async () => {
  await pair.killPrimary()
  const took: number[] = []
  for (let round = 0; round < 3; round++) {
    const startedAt = Date.now()
    expect(await outcomes()).toEqual(['refused'])
    took.push(Date.now() - startedAt)
  }
  expect(Math.min(...took)).toBeLessThan(3_300) // Best of three: the machine is shared.
  expect(fatal).toBe(0)
})

test('when the other is promoted it is found, and has every row that was answered', async () => {
  await pair.promote()
  expect(await rows()).toBe(9)
  expect(await outcomes()).toEqual(['written'])
  expect(await rows()).toBe(17)
})

test('with a new standby after it, named first in the URL, writes go where they did', async () => {
  await pair.addStandby()
  expect(await outcomes()).toEqual(['written'])
  expect(await rows()).toBe(25)
})
