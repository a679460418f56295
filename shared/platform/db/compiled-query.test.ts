import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { isTooLate, orFail } from '#platform/db/compiled-query'
import { type Database, openDatabase, sendAhead, type Tx } from '#platform/db/open'
import { openLog } from '#platform/log'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

let server: ScratchPostgres
let database: Database
beforeAll(async () => {
  server = await startScratchPostgres('empty')
  const log = openLog('suite', 'silent')
  database = openDatabase({ url: server.adminUrl, name: 'suite', max: 2, onFatal: () => {}, log })
  await database.run((db) => db.execute(sql`create table item (id int primary key, state text not null)`))
  await database.run((db) => db.execute(sql`create table said (word text)`))
})
beforeEach(async () => {
  await database.run((db) => db.execute(sql`truncate item, said`))
  await database.run((db) => db.execute(sql`insert into item values (1, 'open'), (2, 'open'), (3, 'ended')`))
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const ending = (ids: readonly number[]) =>
  sql`update item set state = 'ended' where id = any(${sql.param([...ids])}::int[]) and state = 'open' returning id`
const say = (word: string) => sql`insert into said select ${word} from moved`
const end = (tx: Tx, ids: readonly number[]) => sendAhead(tx, orFail(ending(ids), [say('ended')], ids.length))
const read = async () => {
  const items = await database.read((db) => db.execute(sql`select id from item where state = 'open' order by id`))
  const words = await database.read((db) => db.execute(sql`select word from said`))
  return { open: items.map(({ id }) => id), said: words.length }
}
const errorOf = (work: (tx: Tx) => unknown) =>
  database.transaction(work).then(
    () => undefined,
    (error: unknown) => error,
  )

describe('a change that must be made to every row', () => {
  test('takes effect with what accompanies it', async () => {
    await database.transaction((tx) => end(tx, [1, 2]))
    expect(await read()).toEqual({ open: [], said: 2 })
  })

  test.each<[string, (tx: Tx) => unknown]>([
    ['at the commit', (tx) => end(tx, [2, 3])],
    [
      'at the next statement',
      async (tx) => {
        end(tx, [2, 3])
        await tx.execute(sql`select 1`)
      },
    ],
  ])('fails its transaction as too late if it changes fewer: %s', async (_, work) => {
    expect(isTooLate(await errorOf(work))).toBe(true)
    expect(await read()).toEqual({ open: [1, 2], said: 0 })
  })

  test('is made by one of two concurrent transactions', async () => {
    const errors = await Promise.all([1, 2].map(() => errorOf((tx) => end(tx, [1]))))
    expect(errors.filter((error) => error === undefined)).toHaveLength(1)
    expect(errors.filter((error) => error && isTooLate(error))).toHaveLength(1)
    expect(await read()).toEqual({ open: [2], said: 1 })
  })
})

test('another error is not too late', async () => {
  const other = await errorOf((tx) => tx.execute(sql`insert into item values (1, 'open')`))
  expect([isTooLate(other), isTooLate(new Error('other'))]).toEqual([false, false])
})
