import { afterAll, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { openLog } from '#platform/log'
import { book, bookAll, reverse } from '#shared/ledger/journal.store'
import { bookCorrected } from '#shared/ledger/keeping'
import { position } from '#shared/ledger/position'
import { lockPayment } from '../payment.store'
import { inbox, journal } from '../schema.store'
import { openFixture } from '../test-support'
import { positionOf } from './position'
import { positions } from './tables'

const log = openLog('payments', 'silent')
const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())

const linesOf = (item: string) =>
  fixture.database.read((db) => db.select().from(journal).where(eq(journal.item, item)).orderBy(journal.bookedAt))
const postingsOf = async (item: string) => [...Map.groupBy(await linesOf(item), ({ posting }) => posting)]
const sorted = (lines: ReturnType<typeof position>) =>
  lines.map(({ account, asset, amount }) => `${account} ${asset} ${amount}`).sort()

test('two instances book an item again once after its posting was reversed, from the current row', async () => {
  const { database } = fixture
  const keeping = { database, journal, inbox, log, positions }
  await database.run((db) =>
    db.execute(sql`insert into payments.payments (id, kind, state, wallet, pair, currency,
        rate_minor_per_usd, fiat_minor, ausd_micro, onchain_micro, quote_id, request_fingerprint, account,
        checkout_url, provider_payment_id, paid_minor, held)
      values ('pay_b', 'topup', 'paid', ${`0x${'a'.repeat(40)}`}, 'USD/IDR', 'IDR', 16250, 1625000,
        100000000, 100000000, 'pay_b', 'me', 'ID', 'https://c', 'py-b', 1625000, false)`),
  )
  await database.transaction(async (tx) => {
    const row = (await lockPayment(tx, 'pay_b'))!
    await bookAll(tx, journal, 'paid', new Map([['pay_b', positionOf(row)]]))
  })
  const [[booked]] = (await postingsOf('pay_b')) as [[string, unknown]]
  await database.run((db) =>
    db.execute(sql`update payments.payments set ausd_micro = 50000000, onchain_micro = 50000000
      where id = 'pay_b'`),
  )
  const correction = { posting: booked, reason: 'wrong rate' }
  await database.transaction((tx) => reverse(tx, journal, correction))
  await Promise.all([bookCorrected(keeping), bookCorrected(keeping)])
  await bookCorrected(keeping)
  const row = (await fixture.rows()).find(({ id }) => id === 'pay_b')!
  expect(sorted(position(await linesOf('pay_b')))).toEqual(sorted(positionOf(row)))
  const events = (await postingsOf('pay_b')).map(([, [line]]) => line!.event)
  expect(events).toEqual(['paid', 'reversed: wrong rate', 'booked anew'])
  const again = database.transaction((tx) => reverse(tx, journal, correction))
  await expect(again).rejects.toThrow('was already reversed')
  const none = { posting: 'none', reason: 'x' }
  expect(await database.transaction((tx) => reverse(tx, journal, none))).toBeUndefined()
})

test('the waived part of a reversal is booked again after its posting was reversed', async () => {
  const { database } = fixture
  const item = 'pay_c/reversal'
  await database.run((db) =>
    db.execute(sql`insert into payments.reversals (payment_id, wallet, lost_micro, cleared_at)
      values ('pay_c', ${`0x${'a'.repeat(40)}`}, 3, now())`),
  )
  await database.transaction(async (tx) => {
    const [, waivedOf] = positions
    await bookAll(tx, journal, 'waived', new Map([[item, (await waivedOf!(tx, item))!]]))
  })
  const [[booked]] = (await postingsOf(item)) as [[string, unknown]]
  await database.transaction((tx) => reverse(tx, journal, { posting: booked, reason: 'wrong' }))
  await bookCorrected({ database, journal, inbox, log, positions })
  expect(sorted(position(await linesOf(item)))).toEqual(['clawback AUSD -3', 'waived AUSD 3'])
})

test('a needless repayment of before the account `owed_back` is booked there by the migration', async () => {
  const { database } = fixture
  const item = 'pay_d/reversal'
  await database.run((db) =>
    db.execute(sql`insert into payments.reversals (payment_id, wallet, lost_micro, made_good_micro, given_back_micro)
      values ('pay_d', ${`0x${'b'.repeat(40)}`}, 3, 7, 2)`),
  )
  const lines = position([
    { account: 'capital', asset: 'AUSD', amount: -2n },
    { account: 'clawback', asset: 'AUSD', amount: 2n },
  ])
  await database.transaction((tx) => book(tx, journal, { event: 'given back', item, lines }))
  const migration = await Bun.file('infra/migrations/payments/0012_owed-back.sql').text()
  const [, , booking] = migration.split('--> statement-breakpoint')
  await database.run((db) => db.execute(sql.raw(booking!)))
  expect(sorted(position(await linesOf(item)))).toEqual(['capital AUSD -2', 'clawback AUSD 6', 'owed_back AUSD -4'])
  await database.transaction(async (tx) => {
    const [, reversalOf] = positions
    const wanted = new Map([[item, (await reversalOf!(tx, item))!]])
    expect(await bookAll(tx, journal, 'again', wanted)).toBe(0)
  })
})
