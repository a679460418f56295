import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readSheet } from './balance-sheet'
import { type BooksDatabase, openBooksDatabase } from './test-support-rows'

let database: BooksDatabase
beforeAll(async () => {
  database = await openBooksDatabase()
})
afterAll(() => database?.[Symbol.asyncDispose]())

const book = (item: string, other: string, micro: number) =>
  database.admin.unsafe(`
    insert into payments.journal (posting, line, event, item, account, asset, amount)
    values ('${item}/1', 0, 'by hand', '${item}', 'clawback', 'AUSD', ${micro}),
      ('${item}/1', 1, 'by hand', '${item}', '${other}', 'AUSD', ${-micro})`)
const open = async () =>
  (await readSheet(database.books)).items.map(({ item, account, amount }) => [item, account, amount])

test("a wallet's debt is an open item until it is written off, which is booked next to its payment", async () => {
  await book('pay_1', 'exchange', 6_153_846)
  await book('pay_2', 'exchange', 5)
  expect(await open()).toEqual([
    ['pay_1', 'clawback', 6_153_846n],
    ['pay_2', 'clawback', 5n],
  ])
  await book('pay_1/reversal', 'waived', -6_153_846)
  expect(await open()).toEqual([['pay_2', 'clawback', 5n]])
})
