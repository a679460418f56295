import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { openLog } from '#platform/log'
import { bookAll, reverse } from '#shared/ledger/journal.store'
import { startKeeping } from '#shared/ledger/keeping'
import { waitUntil } from '#test/support/wait'
import { inbox, journal } from '../schema.store'
import { type Fixture, openFixture } from '../test-support'
import { positions } from './tables'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ recheckAfterMs: 60_000 })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

test('a running service books a reversed posting again', async () => {
  const { database } = fixture
  const log = openLog('payouts', 'silent')
  await database.run((db) =>
    db.execute(sql`insert into payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro,
        fiat_minor, quote_id, request_fingerprint, authorizer, authorization_nonce, "authorization",
        channel_code, bank_details, bank_details_key_id)
      values ('paid', '0xa', 'paid', 16250, 5000000, 81250, 'paid', 'me', '0xa', '1', '{}',
        'ID_BCA', '', 'a')`),
  )
  const find = positions[0]!
  await database.transaction(async (tx) =>
    bookAll(tx, journal, 'payout done', new Map([['paid', (await find(tx, 'paid'))!]])),
  )
  const linesOfItem = () =>
    database.read((db) => db.select().from(journal).where(eq(journal.item, 'paid')).orderBy(journal.bookedAt))
  const { posting } = (await linesOfItem())[0]!
  await using books = startKeeping({ database, journal, inbox, log, positions })
  await database.transaction((tx) => reverse(tx, journal, { posting, reason: 'wrong' }))
  books.poke()
  await waitUntil('the item is booked again', async () => {
    const events = new Set((await linesOfItem()).map(({ event }) => event))
    expect([...events]).toEqual(['payout done', 'reversed: wrong', 'booked anew'])
    return true
  })
})
