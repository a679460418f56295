import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dayLine, sheetText } from '#infra/operations/cli/books'
import { readSheet } from './balance-sheet'
import { judge } from './judge'
import { type BooksDatabase, openBooksDatabase, recordRead } from './test-support-rows'

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

test('an open item stays in the sheet after comparisons have passed it, also while a part of it changes', async () => {
  const ago = "now() - interval '1 hour'"
  const post = (posting: string, item: string, micro: number, when: string) =>
    database.admin.unsafe(`
      insert into payments.journal (posting, line, event, item, account, asset, amount, booked_at)
      values ('${posting}', 0, 'by hand', '${item}', 'clawback', 'AUSD', ${micro}, ${when}),
        ('${posting}', 1, 'by hand', '${item}', 'exchange', 'AUSD', ${-micro}, ${when})`)
  await post('pay_4/1', 'pay_4', 7, ago)
  await post('pay_5/1', 'pay_5', 9, ago)
  await recordRead(database.admin)
  await judge(database.books)
  const debts = [
    ['pay_2', 'clawback', 5n],
    ['pay_4', 'clawback', 7n],
    ['pay_5', 'clawback', 9n],
  ]
  expect(await open()).toEqual(debts)
  await post('pay_4/reversal/1', 'pay_4/reversal', -7, 'now()')
  expect(await open()).toEqual(debts.filter(([item]) => item !== 'pay_4'))
})

test('the sheet has the spread and the fees that the payments of a day earned, and what the provider charged for them', async () => {
  const post = (schema: string, item: string, [account, other]: readonly string[], amount: string, when = 'now()') =>
    database.admin.unsafe(`
      insert into ${schema}.journal (posting, line, event, item, account, asset, amount, booked_at)
      select '${item}/1', line, 'by hand', '${item}', account, asset, amount * sign, ${when}
      from (values (0, '${account}', 1), (1, '${other}', -1)) as sides (line, account, sign),
        (values (${amount})) as sums (asset, amount)`)
  const fee = ['fees', 'provider_id'] as const
  await post('books', 'ID:txn_1', fee, "'IDR', 4440")
  await post('books', 'ID:txn_2', fee, "'IDR', 5550")
  await post('books', 'ID:txn_3', fee, "'IDR', 9990", "now() - interval '25 hours'")
  await post('payments', 'pay_9', ['exchange', 'spread'], "'AUSD', 50000")
  await post('payouts', 'out_9', ['exchange', 'fees_earned'], "'IDR', 11100")
  const { day } = await readSheet(database.books)
  expect(day).toEqual([
    { asset: 'AUSD', earned: 50_000n, feesEarned: 0n, fees: 0n, transactions: 0 },
    { asset: 'IDR', earned: 0n, feesEarned: 11_100n, fees: 9_990n, transactions: 2 },
  ])
  expect(day.map(dayLine)).toEqual([
    '  AUSD earned 0.050000, fees 0.000000 for 0 transactions',
    '  IDR  earned 0 and 11,100 of fees, fees 9,990 for 2 transactions, 4,995 for each',
  ])
})

test('the sheet says how old each balance is that chain or provider reported', async () => {
  await database.admin`insert into books.balances (place, asset, amount, read_at)
    values ('lane:0xa', 'MON', 4, now() - interval '20 seconds'), ('lane:0xb', 'MON', 3, now() - interval '3 hours')`
  const sheet = await readSheet(database.books)
  expect(sheetText(sheet)).toMatch(/lanes .* external 0\.0+7, read 3 h ago, difference 0\.0+7\n/)
})
