import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { type Opened, openBooks } from '#shared/ledger/opening'
import { position } from '#shared/ledger/position'
import { openLog } from '#shared/log'
import { takeStep } from '../advance'
import { lockPayment } from '../payment.store'
import { inbox, journal } from '../schema.store'
import { type Fixture, openFixture } from '../test-support'
import { openedTables } from './opening'
import { positionOf } from './position'

// Rows of a database that is older than its journal.

let fixture: Fixture
const log = openLog('payments', 'silent')
const opening = (tables: readonly Opened[] = openedTables) => {
  const { database } = fixture
  return openBooks({ database, journal, inbox, log, tables, rowsMax: 2 })
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
}, 60_000)
afterAll(() => fixture?.[Symbol.asyncDispose]())

const booked = async () => {
  const lines = await fixture.database.read((db) => db.select().from(journal))
  const items = Map.groupBy(lines, ({ item }) => item)
  return new Map([...items].map(([item, all]) => [item, sorted(position(all))] as const))
}
const sorted = (lines: ReturnType<typeof position>) =>
  lines.map(({ account, asset, amount }) => `${account} ${asset} ${amount}`).sort()

test('are booked once as what they stand for, by two copies at once, after one was cut off', async () => {
  const cut: Opened = {
    next: async (tx, after, rowsMax) => {
      if (after !== '') throw new Error('cut off')
      return openedTables[0]!.next(tx, after, rowsMax)
    },
  }
  await expect(opening([cut])).rejects.toThrow('cut off')
  expect((await booked()).size).toBe(1)
  // A step that is taken meanwhile is booked as a step; the rest of its row is opened.
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

test('are not booked when they come later: a row that was put there by hand shows', async () => {
  await insert('pay_f', { state: 'credited', held: false, ...onChain, ...charge('f') })
  await opening()
  const lines = await fixture.database.read((db) =>
    db.select().from(journal).where(eq(journal.item, 'pay_f')),
  )
  expect(lines).toEqual([])
})
