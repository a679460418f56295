import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { reverse } from '#shared/ledger/journal.store'
import { bookOpening, startKeeping } from '#shared/ledger/keeping'
import { position } from '#shared/ledger/position'
import { openLog } from '#shared/log'
import { waitUntil } from '#test/support/wait'
import { inbox, journal } from '../schema.store'
import { type Fixture, openFixture } from '../test-support'
import { positionOf } from './position'
import { bookedTables } from './tables'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ sweepAfterMs: 60_000 })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

test('the existing cash-outs of a database are booked once when the journal opens', async () => {
  for (const [at, state] of ['taking', 'taken', 'paid', 'returning', 'returned'].entries())
    await fixture.database.run((db) =>
      db.execute(sql`insert into payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro,
        fiat_minor, quote_id, taken_by, authorizer, authorization_nonce, "authorization",
        channel_code, bank_details, bank_details_key_id)
        values (${state}, '0xa', ${state}, 16250, 5000000, 81250, ${state}, 'me', '0xa',
          ${String(at)}, '{}', 'ID_BCA', '', 'a')`),
    )
  const { database } = fixture
  const log = openLog('payouts', 'silent')
  const opening = () =>
    bookOpening({ database, journal, inbox, log, tables: bookedTables, rowsMax: 2 })
  await Promise.all([opening(), opening()])
  await opening()
  const lines = await database.read((db) => db.select().from(journal))
  const items = Map.groupBy(lines, ({ item }) => item)
  expect([...items.keys()].sort()).toEqual(['paid', 'returning', 'taken'])
  for (const row of await fixture.rows()) {
    const said = position(items.get(row.id) ?? [])
    expect(said).toEqual(
      expect.arrayContaining(positionOf(row).map((line) => expect.objectContaining(line))),
    )
  }
})

test('a running service opens its books, and books a reversed posting again', async () => {
  const { database } = fixture
  const linesOf = (item: string) =>
    database.read((db) =>
      db.select().from(journal).where(eq(journal.item, item)).orderBy(journal.bookedAt),
    )
  await database.run((db) =>
    db.execute(sql`update payouts.inbox set done_at = null where consumer = 'books'`),
  )
  await database.run((db) =>
    db.execute(sql`update payouts.payouts set state = 'taken' where id = 'taking'`),
  )
  await using books = startKeeping({
    ...{ database, journal, inbox, tables: bookedTables },
    log: openLog('payouts', 'silent'),
  })
  const eventsOf = async (item: string) => [
    ...new Set((await linesOf(item)).map(({ event }) => event)),
  ]
  const becomes = (item: string, events: string[]) =>
    waitUntil(events.join(), async () => {
      expect(await eventsOf(item)).toEqual(events)
      return true
    })
  await becomes('taking', ['opening'])
  const reversed = (await linesOf('paid'))[0]!.posting
  await database.transaction((tx) => reverse(tx, journal, { posting: reversed, reason: 'wrong' }))
  books.poke()
  await becomes('paid', ['opening', 'reversed: wrong', 'booked anew'])
})
