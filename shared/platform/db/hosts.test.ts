import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { type Database, openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import { type PostgresPair, startPostgresPair } from '#test/support/engines/postgres-pair'

/** Password of characters that a URL must encode, including its separators of hosts, ports and users. */
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
const rows = () => pair.onPrimary(async (admin) => (await admin`select count(*)::int as n from kept`)[0]!.n)

test('of two hosts, every connection goes to the one that accepts writes', async () => {
  expect(await outcomes()).toEqual(['written'])
  expect(await rows()).toBe(8)
})

test('while the standby is silent no commit is confirmed, however its statement ends', async () => {
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

test('while no host accepts writes, a call fails soon and the process continues', async () => {
  await pair.killPrimary()
  const took: number[] = []
  for (let round = 0; round < 3; round++) {
    const startedAt = Date.now()
    expect(await outcomes()).toEqual(['refused'])
    took.push(Date.now() - startedAt)
  }
  expect(Math.min(...took)).toBeLessThan(3_300) // The best of three counts, because the machine is shared.
  expect(fatal).toBe(0)
})

test('after a failover the new primary is found, with every confirmed row', async () => {
  await pair.promote()
  expect(await rows()).toBe(9)
  expect(await outcomes()).toEqual(['written'])
  expect(await rows()).toBe(17)
})

test('with a new standby named first in the URL, writes go to the primary', async () => {
  await pair.addStandby()
  expect(await outcomes()).toEqual(['written'])
  expect(await rows()).toBe(25)
})
