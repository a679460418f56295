import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { QuoteTake } from '#shared/messages/pricing'
import { openingMaxMs } from '../cashout'
import { cashouts } from '../cashout.table'
import { type Fixture, openFixture, unlimited } from '../test-support'

// These cash-outs are stored but not accepted: the quote was not taken, or the response was lost.

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ recheckAfterMs: 60_000 })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

type CashoutRequest = ReturnType<Fixture['request']>
const rowOf = async ({ quoteId }: CashoutRequest) => (await fixture.rows()).find((row) => row.quoteId === quoteId)
const wallet = (digit: string) => `0x${digit.repeat(40)}`
const requestOf = (from: string) =>
  fixture.request({
    wallet: from,
    authorization: { from },
    bank: { accountNumber: from.slice(2, 12).replace(/\D/g, '7') },
  })

/** Stores a cash-out. Pricing fails before it takes the quote (`breaks`), or after (`lost`). */
async function stored(fault: 'breaks' | 'lost', asked = fixture.request()): Promise<CashoutRequest> {
  fixture.quotes.get(asked.quoteId)![fault] = true
  expect(await fixture.create(asked)).toEqual({ refused: 'rate_unavailable' })
  expect(await rowOf(asked)).toMatchObject({ state: 'opening', nextCheckAt: expect.any(Date) })
  delete fixture.quotes.get(asked.quoteId)![fault]
  return asked
}
/** Makes a row older. The check becomes due if the row is then older than a minute. */
const age = (asked: CashoutRequest, ms: number) =>
  fixture.database.run((db) =>
    db
      .update(cashouts)
      .set({
        createdAt: sql`now() - ${ms} * interval '1 millisecond'`,
        ...(ms > openingMaxMs ? { nextCheckAt: sql`now()` } : {}),
      })
      .where(eq(cashouts.quoteId, asked.quoteId)),
  )

describe('a cash-out that is stored but not accepted', () => {
  test.each(['breaks', 'lost'] as const)('is accepted by its retry, once, if pricing %s at first', async (fault) => {
    const asked = await stored(fault)
    const { id } = (await rowOf(asked))!
    expect(await fixture.sent(id)).toEqual([])
    const answers = await Promise.all([asked, asked, asked].map((one) => fixture.create(one)))
    for (const answer of answers) expect(answer).toMatchObject({ ok: { payoutId: id } })
    expect(await rowOf(asked)).toMatchObject({ state: 'taking' })
    expect(await fixture.orders(id, 'relay.take')).toHaveLength(1)
  })

  test('is not accepted if its row was lost with Postgres, and its retry is accepted once', async () => {
    const asked = fixture.request()
    const { ask: asking } = fixture.context
    const ask: typeof asking = async (question, ...more) => {
      // The role of the service deletes no rows.
      const lost = {
        id: 'lost',
        quoteId: crypto.randomUUID(),
        authorizationNonce: 'lost',
        wallet: wallet('d') as never,
      }
      if (question.subject === QuoteTake.subject)
        await fixture.database.run((db) => db.update(cashouts).set(lost).where(eq(cashouts.quoteId, asked.quoteId)))
      return asking(question, ...more)
    }
    expect(await fixture.create(asked, { ask })).toEqual({ refused: 'provider_unavailable' })
    const { payoutId } = (await fixture.create(asked)).ok!
    expect(await rowOf(asked)).toMatchObject({ id: payoutId, state: 'taking' })
    expect(await fixture.orders(payoutId, 'relay.take')).toHaveLength(1)
  })

  // guard: a cash-out is accepted only within a minute after it was stored
  test('is refused after a minute, whether or not it has ended yet', async () => {
    const asked = await stored('lost')
    await age(asked, openingMaxMs - 10_000)
    const younger = await stored('lost')
    await age(younger, openingMaxMs + 10_000)
    expect(await fixture.create(younger)).toEqual({ refused: 'quote_expired' })
    expect(await fixture.create(asked)).toHaveProperty('ok')
  })

  test('expires automatically, and its signed transfer is usable with another quote', async () => {
    const asked = await stored('lost')
    await age(asked, openingMaxMs + 1)
    const { id } = (await rowOf(asked))!
    await fixture.until(id, 'expired')
    expect(await fixture.create(asked)).toEqual({ refused: 'quote_expired' })
    expect(await fixture.create({ ...asked, quoteId: fixture.quote() })).toHaveProperty('ok')
    expect(await fixture.sent(id)).toEqual([])
  })

  test('ends at once if its quote is refused', async () => {
    const asked = fixture.request()
    fixture.quotes.get(asked.quoteId)!.expiresOnTake = true
    expect(await fixture.create(asked)).toEqual({ refused: 'quote_expired' })
    expect(await rowOf(asked)).toMatchObject({ state: 'expired', nextCheckAt: null })
    expect(await fixture.create({ ...asked, quoteId: fixture.quote() })).toHaveProperty('ok')
  })

  test('counts for its wallet until it expires, and is not in the activity', async () => {
    const asked = await stored('lost', requestOf(wallet('3')))
    const limit = { dayMicroMax: 5_000_000n }
    const other = requestOf(wallet('3'))
    expect(await fixture.create(other, limit)).toEqual({ refused: 'day_limit_reached' })
    fixture.chain.free = '5000000'
    expect(await fixture.create(other)).toEqual({ refused: 'balance_too_low' })
    const listed = { wallet: wallet('3'), limit: 10 }
    expect(await fixture.activity(listed as never)).toEqual({ ok: { items: [], inFlight: [] } })
    await age(asked, openingMaxMs + 1)
    await fixture.until((await rowOf(asked))!.id, 'expired')
    expect(await fixture.activity(listed as never)).toEqual({ ok: { items: [], inFlight: [] } })
    const { payoutId } = (await fixture.create(other, limit)).ok!
    const itemOf = (of: string, id: string) => fixture.item({ wallet: of, id } as never)
    expect(await itemOf(wallet('3'), payoutId)).toMatchObject({ ok: { item: { id: payoutId } } })
    const expired = (await rowOf(asked))!.id
    for (const hidden of [itemOf(wallet('4'), payoutId), itemOf(wallet('3'), expired)])
      expect(await hidden).toEqual({ ok: { item: null } })
    Object.assign(fixture.chain, unlimited)
  })

  test('returns AUSD that arrives for it, as after a restore', async () => {
    const asked = await stored('lost')
    const { id } = (await rowOf(asked))!
    await fixture.relayed('take', id)
    expect(await fixture.until(id, 'returning')).toMatchObject({ reason: 'taken_late' })
    expect(await fixture.sent(id)).toContain('relay.return')
  })
})
