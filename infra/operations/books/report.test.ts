import { afterAll, beforeAll, expect, test } from 'bun:test'
import { reportColumns, reportCsv, reportRows, reportText } from '#infra/operations/cli/report'
import { accountNames, chart } from '#shared/ledger/chart'
import { judge } from './judge'
import { type DayReport, periodOf, readDayReport } from './report'
import { type BooksDatabase, openBooksDatabase, recordRead } from './test-support-rows'

let database: BooksDatabase
beforeAll(async () => {
  database = await openBooksDatabase()
})
afterAll(() => database?.[Symbol.asyncDispose]())

/** Posts an item: AUSD from `other` to `account`, in 10⁻⁶. */
const post = (item: string, at: string, [account, other]: readonly string[], micro: number, schema = 'payments') =>
  database.admin.unsafe(`
    insert into ${schema}.journal (posting, line, event, item, account, asset, amount, booked_at)
    values ('${item}/${at}', 0, 'by hand', '${item}', '${account}', 'AUSD', ${micro}, '${at}'),
      ('${item}/${at}', 1, 'by hand', '${item}', '${other}', 'AUSD', ${-micro}, '${at}')`)

const reportOf = async (day: string): Promise<DayReport> => (await readDayReport(database.books, day, periodOf(day)!))!
const treasuryOf = ({ accounts }: DayReport) => {
  const { opening, debits, credits, closing } = accounts.find(({ account }) => account === 'treasury')!
  return [opening, debits, credits, closing]
}

const topup = ['credit_line', 'treasury'] as const
const deposit = ['treasury', 'capital'] as const

test('a line belongs to the day in Jakarta on which it was booked, from midnight until before the next', async () => {
  await post('0xaa:1', '2026-03-01T12:00:00Z', deposit, 100_000_000, 'books')
  await post('pay_1', '2026-03-09T16:59:59.999Z', topup, 1_000_000)
  await post('pay_2', '2026-03-09T17:00:00Z', topup, 2_000_000)
  await post('pay_3', '2026-03-10T16:59:59.999Z', topup, 4_000_000)
  await post('pay_4', '2026-03-10T17:00:00Z', topup, 8_000_000)
  expect(treasuryOf(await reportOf('2026-03-09'))).toEqual([100_000_000n, 0n, 1_000_000n, 99_000_000n])
  expect(treasuryOf(await reportOf('2026-03-10'))).toEqual([99_000_000n, 0n, 6_000_000n, 93_000_000n])
  expect(treasuryOf(await reportOf('2026-03-11'))).toEqual([93_000_000n, 0n, 8_000_000n, 85_000_000n])
})

test('the report of a day has the same bytes whether the totals of the books end before, within or after it', async () => {
  const texts = async () => {
    const found = await reportOf('2026-03-10')
    return [reportText(found), reportCsv(reportRows(found))]
  }
  const first = await texts()
  expect(first[1]).toContain('2026-03-10,final,treasury,AUSD,99.000000,0.000000,6.000000,93.000000')
  await recordRead(database.admin)
  const ends = ['2026-02-01', '2026-03-10T03:00:00Z', '2026-03-10T20:00:00Z', '2026-05-01']
  for (const end of ends) {
    await database.admin`
      update books.checkpoints set read_to = ${end}::timestamptz + interval '10 minutes' where source <> 'rows'`
    await judge(database.books)
    const [{ read_to: readTo }] = (await database.admin`
      select read_to from books.checkpoints where source = 'rows'`) as [{ read_to: Date }]
    expect(readTo).toEqual(new Date(end))
    expect(await texts()).toEqual(first)
  }
})

test('a correction stands on the day on which it was made, and changes no earlier report', async () => {
  const before = await reportOf('2026-03-10')
  await database.admin`
    insert into payments.journal (posting, line, event, item, account, asset, amount, reverses, booked_at)
    select 'pay_2/back', line, 'reversed: it was wrong', item, account, asset, -amount, posting, '2026-06-20T09:00:00Z'
    from payments.journal where posting = 'pay_2/2026-03-09T17:00:00Z'`
  expect(await reportOf('2026-03-10')).toEqual(before)
  expect(treasuryOf(await reportOf('2026-06-20'))).toEqual([85_000_000n, 2_000_000n, 0n, 87_000_000n])
})

test('the report has one row for each account in each of its assets, in fixed columns', async () => {
  const [head, ...rows] = reportCsv(reportRows(await reportOf('2026-03-10'))).split('\n')
  expect(head).toBe(reportColumns.join(','))
  expect(head).toBe('day,status,account,asset,opening,debits,credits,closing')
  const wanted = accountNames.flatMap((account) => chart[account].assets.map((asset) => `${account},${asset}`))
  expect(rows.map((row) => row.split(',').slice(2, 4).join(','))).toEqual(wanted)
})

test('a report is open until ten minutes after its day, because a line is visible only once it is committed', async () => {
  const [{ day }] = (await database.admin`
    select to_char(now() at time zone 'Asia/Jakarta', 'YYYY-MM-DD') as day`) as [{ day: string }]
  const today = await reportOf(day)
  expect(today.status).toBe('open')
  expect(reportText(today)).toContain('the day is still open')
  const endedAgo = (minutes: number) => {
    const to = new Date(Date.now() - minutes * 60_000)
    return readDayReport(database.books, day, { from: new Date(to.getTime() - 86_400_000), to })
  }
  expect((await endedAgo(9))?.status).toBe('open')
  expect((await endedAgo(11))?.status).toBe('final')
})

test('a day that has not begun has no report', async () => {
  expect(await readDayReport(database.books, '2999-01-01', periodOf('2999-01-01')!)).toBeUndefined()
})
