import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { position } from '#shared/ledger/position'
import { journal } from '../schema.store'
import { type Fixture, openFixture } from '../test-support'
import { positionOf } from './position'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ recheckAfterMs: 60_000 })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

/** Checks that the lines equal the position of the row at every moment, and returns them. */
async function booked(id: string): Promise<Record<string, bigint>> {
  const byName = (lines: ReturnType<typeof position>) =>
    Object.fromEntries(lines.map(({ account, asset, amount }) => [`${account} ${asset}`, amount]))
  const row = await fixture.row(id)
  const lines = await fixture.database.read((db) => db.select().from(journal).where(eq(journal.item, id)))
  // The row has moved since it was read, so the lines may be newer.
  if (!Bun.deepEquals(await fixture.row(id), row)) return booked(id)
  const told = byName(position(lines))
  expect(told).toEqual(byName(positionOf(row)))
  return told
}

/** Requests 5 AUSD at a rate of which 1 % is spread. */
const quoted = () => fixture.request({ quoteId: fixture.quote('USD/IDR', '16413', 100) })

test('the books follow the row of a cash-out at every step, with the spread of its quote', async () => {
  const id = (await fixture.create(quoted())).ok!.payoutId
  expect(await fixture.row(id)).toMatchObject({ spreadBps: 100, fiatMinor: 82_065n })
  expect(await booked(id)).toEqual({})
  await fixture.relayed('take', id)
  expect(await booked(id)).toMatchObject({ 'spread IDR': 812n, 'treasury AUSD': 5_000_000n })
  await fixture.until(id, 'paid')
  expect(await booked(id)).toMatchObject({ 'provider_id IDR': -82_065n, 'spread IDR': 812n })
  const { payouts } = (await fixture.control('book')) as { payouts: Record<string, unknown>[] }
  const order = payouts.find(({ reference_id }) => reference_id === id)
  expect(order).toMatchObject({ metadata: { rate: '16413', spread: '100' } })
})

test('the fee of a cash-out is earned once its AUSD is taken, and named in the order at the provider, for a restore', async () => {
  const asked = fixture.request({})
  fixture.quotes.get(asked.quoteId)!.cashoutFee = { fixed: '5550', bps: 0 }
  const id = (await fixture.create(asked)).ok!.payoutId
  expect(await booked(id)).toEqual({})
  await fixture.relayed('take', id)
  expect(await booked(id)).toMatchObject({ 'fees_earned IDR': -5_550n, 'exchange IDR': 81_250n })
  await fixture.until(id, 'paid')
  expect(await booked(id)).toMatchObject({ 'fees_earned IDR': -5_550n, 'provider_id IDR': -75_700n })
  const { payouts } = (await fixture.control('book')) as { payouts: Record<string, unknown>[] }
  expect(payouts.find(({ reference_id }) => reference_id === id)).toMatchObject({ metadata: { fee: '5550' } })
})

test('a cash-out refused by the bank leaves nothing in the books', async () => {
  const quoteId = fixture.quote('USD/IDR', '16413', 100)
  const id = await fixture.taken({ quoteId, bank: { accountNumber: '999999' } })
  await fixture.until(id, 'returning')
  expect(await booked(id)).toEqual({ 'treasury AUSD': 5_000_000n, 'returns AUSD': -5_000_000n })
  await fixture.relayed('return', id)
  await fixture.until(id, 'returned')
  expect(await booked(id)).toEqual({})
})
