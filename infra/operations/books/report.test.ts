import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { accountRows, reportColumns, reportText, unsettledColumns, unsettledRows } from '#infra/operations/cli/report'
import { recordsCsv } from '#infra/operations/csv'
import { type Database, openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import { accountNames, chart } from '#shared/ledger/chart'
import { recordMoves } from './external/provider-move.store'
import { judge } from './judge'
import { type DayReport, periodOf, readDayReport } from './report'
import { type BooksDatabase, openBooksDatabase, recordRead } from './test-support-rows'

let database: BooksDatabase
let moves: Database
beforeAll(async () => {
  database = await openBooksDatabase()
  const log = openLog('operator', 'silent')
  moves = openDatabase({ url: database.booksUrl, name: 'suite', log, onFatal: () => {}, max: 1 })
})
afterAll(async () => {
  await moves?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
})

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
    return [reportText(found), recordsCsv(reportColumns, accountRows(found))]
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
  const [head, ...rows] = recordsCsv(reportColumns, accountRows(await reportOf('2026-03-10'))).split('\n')
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

describe('fiat that the provider has not settled', () => {
  /** Books a payment of Rp 1,625,000 for 100 AUSD on 12 August at noon in Jakarta. */
  const paid = (item: string) =>
    database.admin.unsafe(`
      insert into payments.journal (posting, line, event, item, account, asset, amount, booked_at)
      select '${item}/1', line, 'by hand', '${item}', account, asset, amount, '2026-08-12T05:00:00Z'
      from (values (0, 'provider_id', 'IDR', 1625000), (1, 'exchange', 'IDR', -1625000),
        (2, 'exchange', 'AUSD', 100000000), (3, 'promises', 'AUSD', -100000000)) as l (line, account, asset, amount)`)
  const credited = (item: string, at: string) =>
    database.admin.unsafe(`
      insert into payments.journal (posting, line, event, item, account, asset, amount, booked_at)
      values ('${item}/2', 0, 'by hand', '${item}', 'promises', 'AUSD', 100000000, '${at}'),
        ('${item}/2', 1, 'by hand', '${item}', 'treasury', 'AUSD', -100000000, '${at}')`)
  const moved = (item: string, readAt: string, settlement: 'pending' | 'settled', settlesAt: string | null = null) =>
    moves.transaction(async (tx) => {
      const isPending = settlement === 'pending'
      await recordMoves(tx, [
        {
          account: 'ID',
          transactionId: `txn_${item}`,
          type: 'payment',
          status: 'succeeded',
          reference: item,
          currency: 'IDR',
          amountMinor: 1_625_000n,
          cashflow: 'in',
          unsettledReadAt: isPending ? new Date(readAt) : null,
          settlesAt: isPending && settlesAt !== null ? new Date(settlesAt) : null,
          settledReadAt: isPending ? null : new Date(readAt),
          readAt: new Date(readAt),
        },
      ])
    })
  const listed = async (day: string) =>
    (await reportOf(day)).unsettled.map(({ item, received, expected, ausdGiven }) => [
      item,
      received,
      expected,
      ausdGiven,
    ])

  test('is listed with its expected day and the AUSD given until the day on which it is read as settled', async () => {
    await paid('pay_slow')
    await moved('pay_slow', '2026-08-12T05:01:00Z', 'pending', '2026-08-14T05:00:00Z')
    const line = ['pay_slow', 1_625_000n, '2026-08-14', 0n]
    expect(await listed('2026-08-11')).toEqual([])
    expect(await listed('2026-08-12')).toEqual([line])
    await credited('pay_slow', '2026-08-13T05:00:00Z')
    const [twelfth, given] = [await reportOf('2026-08-12'), ['pay_slow', 1_625_000n, '2026-08-14', 100_000_000n]]
    expect(await listed('2026-08-13')).toEqual([given])
    // The provider postpones the settlement, which the reports keep as they first read it.
    await moved('pay_slow', '2026-08-14T06:00:00Z', 'pending', '2026-08-17T05:00:00Z')
    await moved('pay_slow', '2026-08-15T05:00:00Z', 'settled')
    expect(await listed('2026-08-14')).toEqual([given])
    expect(await listed('2026-08-15')).toEqual([])
    expect(await reportOf('2026-08-12')).toEqual(twelfth)
    expect(reportText(twelfth)).toContain('IDR  expected 2026-08-14: 1,625,000 of 1 payment, 0.000000 AUSD given')
    expect(recordsCsv(unsettledColumns, unsettledRows(twelfth))).toBe(
      'day,status,item,account,asset,received,expected,ausd_given\n2026-08-12,final,pay_slow,provider_id,IDR,1625000,2026-08-14,0.000000',
    )
  })

  test('has no expected day until the list has its row, and is not listed if it was settled at once', async () => {
    await paid('pay_at_once')
    expect(await listed('2026-08-12')).toContainEqual(['pay_at_once', 1_625_000n, null, 0n])
    expect(reportText(await reportOf('2026-08-12'))).toContain(
      'IDR  not reported by the provider: 1,625,000 of 1 payment',
    )
    await moved('pay_at_once', '2026-08-12T06:00:00Z', 'settled')
    expect((await listed('2026-08-12')).map(([item]) => item)).toEqual(['pay_slow'])
  })

  test('no longer counts once it is paid back', async () => {
    await paid('pay_back')
    await moved('pay_back', '2026-08-12T06:00:00Z', 'pending', '2026-08-14T05:00:00Z')
    await database.admin`
      insert into payments.journal (posting, line, event, item, account, asset, amount, booked_at)
      select 'pay_back/2', line, 'refund counted', item, account, asset, -amount, '2026-08-13T05:00:00Z'
      from payments.journal where posting = 'pay_back/1'`
    expect((await listed('2026-08-12')).map(([item]) => item)).toEqual(['pay_back', 'pay_slow'])
    expect((await listed('2026-08-13')).map(([item]) => item)).toEqual(['pay_slow'])
  })

  test('that the list reports as pending only on the next day has no expected day on the day of its payment', async () => {
    await paid('pay_late_row')
    await moved('pay_late_row', '2026-08-12T17:00:00Z', 'pending', '2026-08-14T05:00:00Z')
    const lines = (await Promise.all(['2026-08-12', '2026-08-13'].map(listed))).map((all) =>
      all.filter(([item]) => item === 'pay_late_row'),
    )
    expect(lines).toEqual([[['pay_late_row', 1_625_000n, null, 0n]], [['pay_late_row', 1_625_000n, '2026-08-14', 0n]]])
  })
})
