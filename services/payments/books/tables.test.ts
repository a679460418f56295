import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { reverse } from '#shared/ledger/journal.store'
import { type BookedTable, bookCorrected, bookOpening } from '#shared/ledger/keeping'
import { position } from '#shared/ledger/position'
import { openLog } from '#shared/log'
import { takeStep } from '../advance'
import { lockPayment } from '../payment.store'
import { inbox, journal } from '../schema.store'
import { type Fixture, openFixture } from '../test-support'
import { positionOf } from './position'
import { bookedTables } from './tables'

// Rows of a database that is older than its journal.

let fixture: Fixture
const log = openLog('payments', 'silent')
const opening = (tables: readonly BookedTable[] = bookedTables) => {
  const { database } = fixture
  return bookOpening({ database, journal, inbox, log, tables, rowsMax: 2 })
}

/** Written as the version before wrote them: in its columns, and without a posting. */
const insert = (id: string, more: Record<string, unknown>) => {
  const row = {
    ...{ id, kind: 'topup', wallet: `0x${'a'.repeat(40)}`, pair: 'USD/IDR', currency: 'IDR' },
    ...{ rate_minor_per_usd: 16_250, fiat_minor: 1_625_000, ausd_micro: 100_000_000 },
    ...{ quote_id: id, taken_by: 'me', account: 'ID', checkout_url: 'https://c', ...more },
  }
  const names = sql.join(Object.keys(row).map(sql.identifier), sql`, `)
  const values = sql.join(
    Object.values(row).map((value) => sql`${value}`),
    sql`, `,
  )
  return fixture.database.run((db) =>
    db.execute(sql`insert into payments.payments (${names}) values (${values})`),
  )
}
const charge = (id: string) => ({ provider_payment_id: `py-${id}`, paid_minor: 1_625_000 })
const onChain = { live_micro: 100_000_000, credited_at: '2026-11-01T00:00:00Z' }
const rows = [
  ['pay_a', { state: 'awaiting_payment', expires_at: '2026-11-01T00:00:00Z' }],
  ['pay_b', { state: 'paid', held: false, live_micro: 100_000_000, ...charge('b') }],
  ['pay_c', { state: 'credited', held: false, ...onChain, ...charge('c') }],
  ['pay_d', { state: 'held', held: true, ...onChain, ...charge('d') }],
  ['pay_e', { state: 'review', reason: 'amount_differs', ...charge('e'), paid_minor: 7 }],
] as const

beforeAll(async () => {
  fixture = await openFixture()
  for (const [id, more] of rows) await insert(id, more)
  await fixture.database.run((db) =>
    db.execute(sql`insert into payments.reversals (payment_id, wallet, lost_micro, cleared_at)
      values ('pay_c', ${`0x${'a'.repeat(40)}`}, 3, now())`),
  )
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const booked = async () => {
  const lines = await fixture.database.read((db) => db.select().from(journal))
  const items = Map.groupBy(lines, ({ item }) => item)
  return new Map([...items].map(([item, all]) => [item, sorted(position(all))] as const))
}
const sorted = (lines: ReturnType<typeof position>) =>
  lines.map(({ account, asset, amount }) => `${account} ${asset} ${amount}`).sort()

test('two instances book the existing rows once, also after an interrupted attempt', async () => {
  const cut: BookedTable = {
    ...bookedTables[0]!,
    next: async (tx, after, rowsMax) => {
      if (after !== '') throw new Error('cut off')
      return bookedTables[0]!.next(tx, after, rowsMax)
    },
  }
  await expect(opening([cut])).rejects.toThrow('cut off')
  expect((await booked()).size).toBe(1)
  // A concurrent step is booked as a step; the rest of its row is an opening entry.
  await fixture.database.transaction(async (tx) => {
    const row = (await lockPayment(tx, 'pay_d'))!
    await takeStep(tx, fixture.context, row, { next: 'credited' }, { holdEndedAt: new Date() })
  })
  await Promise.all([opening(), opening()])
  const wanted = new Map<string, string[]>()
  for (const row of await fixture.rows())
    if (row.state !== 'awaiting_payment') wanted.set(row.id, sorted(positionOf(row)))
  wanted.set('pay_c/reversal', ['clawback AUSD -3', 'waived AUSD 3'])
  expect(await booked()).toEqual(wanted)
})

test('a row inserted by hand after the opening is not booked, so that it shows as a break', async () => {
  await insert('pay_f', { state: 'credited', held: false, ...onChain, ...charge('f') })
  await opening()
  const lines = await fixture.database.read((db) =>
    db.select().from(journal).where(eq(journal.item, 'pay_f')),
  )
  expect(lines).toEqual([])
})
test('a reversed posting is booked again once, from the current row', async () => {
  const { database } = fixture
  const keeping = { database, journal, inbox, log, tables: bookedTables }
  const postingsOf = async (item: string) => {
    const lines = await database.read((db) =>
      db.select().from(journal).where(eq(journal.item, item)).orderBy(journal.bookedAt),
    )
    return [...Map.groupBy(lines, ({ posting }) => posting)]
  }
  const [[opened]] = (await postingsOf('pay_b')) as [[string, unknown]]
  // An operator halved the value by hand.
  await database.run((db) =>
    db.execute(sql`update payments.payments set ausd_micro = 50000000, live_micro = 50000000
      where id = 'pay_b'`),
  )
  const correction = { posting: opened, reason: 'wrong rate' }
  await database.transaction((tx) => reverse(tx, journal, correction))
  await Promise.all([bookCorrected(keeping), bookCorrected(keeping)])
  await bookCorrected(keeping)
  const row = (await fixture.rows()).find(({ id }) => id === 'pay_b')!
  expect((await booked()).get('pay_b')).toEqual(sorted(positionOf(row)))
  const events = (await postingsOf('pay_b')).map(([, [line]]) => line!.event)
  expect(events).toEqual(['opening', 'reversed: wrong rate', 'booked anew'])
  const again = database.transaction((tx) => reverse(tx, journal, correction))
  await expect(again).rejects.toThrow('was already reversed')
  const none = { posting: 'none', reason: 'x' }
  expect(await database.transaction((tx) => reverse(tx, journal, none))).toBeUndefined()
})
