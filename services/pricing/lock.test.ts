import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { QuoteCreate, QuoteFind, QuoteTake } from '#shared/messages/pricing'
import { mintQuoteId } from './quote-id'
import { openRateBoard } from './rate-board'
import { type Fixture, openFixture } from './test-support'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
}, 60_000)
afterAll(() => fixture?.[Symbol.asyncDispose]())

/** A quote of a moment of its own: of one moment, both copies may make the same. */
async function locked(pair: 'USD/IDR' | 'USD/MYR' = 'USD/IDR') {
  fixture.time.nowMs += 1
  const answer = await fixture.ask(QuoteCreate, { pair })
  if ('refused' in answer) throw new Error(answer.refused)
  return answer.ok
}
const by = (quoteId: string, takenBy = 'me') => ({ quoteId, takenBy })

describe('pricing, on a real nats-server with the permissions of its user,', () => {
  test.each([
    ['USD/IDR', '16250'],
    ['USD/MYR', '421'],
  ] as const)('locks %s at %s for 60 seconds', async (pair, rate) => {
    const quote = await locked(pair)
    expect(quote).toMatchObject({ pair, rate })
    expect(Date.parse(quote.expiresAt)).toBe(fixture.time.nowMs + 60_000)
  })

  test('gives the taker the same answer again, and refuses everybody else', async () => {
    const quote = await locked()
    expect(await fixture.ask(QuoteFind, by(quote.id))).toEqual({ ok: { ...quote, spreadBps: 0 } })
    expect(await fixture.ask(QuoteTake, by(quote.id))).toEqual({ ok: { ...quote, spreadBps: 0 } })
    expect(await fixture.ask(QuoteTake, by(quote.id.toUpperCase()))).toEqual({
      ok: { ...quote, spreadBps: 0 },
    })
    expect(await fixture.ask(QuoteFind, by(quote.id))).toEqual({ ok: { ...quote, spreadBps: 0 } })
    expect(await fixture.ask(QuoteTake, by(quote.id, 'you'))).toEqual({ refused: 'quote_used' })
    expect(await fixture.ask(QuoteFind, by(quote.id, 'you'))).toEqual({ refused: 'quote_used' })
  })

  test('tells who takes a quote how much of its rate is spread', async () => {
    const { context, time } = fixture
    const spreadsBps = new Map([['USD/MYR', 50n]] as const)
    await using board = await openRateBoard({
      ...context,
      guards: { ...context.guards, spreadsBps },
    })
    const verdict = board.rateOf('USD/MYR')
    if ('unavailable' in verdict) throw new Error(verdict.unavailable)
    const lock = { pair: 'USD/MYR', ...verdict, expiresAtMs: time.nowMs + 60_000 } as const
    const quoteId = mintQuoteId(context.quoteSecrets[0], lock, 0)
    const answer = { ok: { rate: '424', spreadBps: 50 } }
    expect(await fixture.ask(QuoteFind, by(quoteId))).toMatchObject(answer)
    expect(await fixture.ask(QuoteTake, by(quoteId))).toMatchObject(answer)
  })

  test('refuses what expired or was never made', async () => {
    const [free, taken] = [await locked(), await locked()]
    await fixture.ask(QuoteTake, by(taken.id))
    fixture.time.nowMs += 60_000
    expect(await fixture.ask(QuoteTake, by(free.id))).toEqual({ refused: 'quote_expired' })
    expect(await fixture.ask(QuoteTake, by(taken.id))).toEqual({ ok: { ...taken, spreadBps: 0 } })
    expect(await fixture.ask(QuoteTake, by(crypto.randomUUID()))).toEqual({
      refused: 'quote_unknown',
    })
  })

  test('keeps nothing of a quote that nobody takes, and one row of one that was', async () => {
    const admin = await fixture.open('admin')
    const kv = await admin.js.views.kv('quotes', { bindOnly: true })
    const size = async () => (await kv.status()).values
    const before = await size()
    const [quote] = [await locked(), await locked('USD/MYR')]
    await fixture.ask(QuoteFind, by(quote.id))
    expect(await size()).toBe(before)
    await fixture.ask(QuoteTake, by(quote.id))
    await fixture.ask(QuoteTake, by(quote.id, 'you'))
    expect(await size()).toBe(before + 1)
  })

  test('says of one it made long ago that it expired, whatever was forgotten since', async () => {
    const quote = await locked()
    const before = fixture.time.nowMs
    fixture.time.nowMs += 86_400_000
    expect(await fixture.ask(QuoteFind, by(quote.id))).toEqual({ refused: 'quote_expired' })
    fixture.time.nowMs = before
  })

  test('finding does not take', async () => {
    const quote = await locked()
    await fixture.ask(QuoteFind, by(quote.id, 'you'))
    expect(await fixture.ask(QuoteTake, by(quote.id))).toEqual({ ok: { ...quote, spreadBps: 0 } })
  })

  test('lets exactly one of forty takers at once win, through two copies', async () => {
    const { quoteStores, context } = fixture
    for (let round = 0; round < 5; round++) {
      const quote = await locked()
      const takings = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          quoteStores[n % 2]!.take(quote.id, `taker ${n}`, context.clock),
        ),
      )
      const winners = takings.filter((taking) => 'taken' in taking)
      expect(winners).toHaveLength(1)
      expect(
        takings.filter((taking) => 'refused' in taking && taking.refused === 'quote_used'),
      ).toHaveLength(39)
    }
  })

  test('locks nothing when its rate has grown too old', async () => {
    const before = fixture.time.nowMs
    fixture.time.nowMs += 97 * 3_600_000
    expect(await fixture.ask(QuoteCreate, { pair: 'USD/IDR' })).toEqual({
      refused: 'rate_unavailable',
    })
    fixture.time.nowMs = before
  })
})

describe('the rates bucket', () => {
  test('keeps the rate last used, with its source and date, for the next start', async () => {
    const store = fixture.context.rates
    const accepted = await store.findAccepted('USD/MYR')
    expect(accepted).toMatchObject({ source: 'fixed', localE8PerUsd: 421_000_000n })
    expect(await store.recall('fixed', 'USD/MYR')).toEqual(accepted)
  })

  test('lets a board whose sources are all down quote what was last seen', async () => {
    const down = {
      name: 'bnm',
      pairs: ['USD/MYR'] as const,
      checkOnly: false,
      ask: () => Promise.reject(new Error('down')),
    }
    const store = fixture.context.rates
    await store.remember({
      source: 'bnm',
      pair: 'USD/MYR',
      localE8PerUsd: 420_000_000n,
      asOfMs: fixture.time.nowMs,
    })
    await using late = await openRateBoard({ ...fixture.context, sources: [down] })
    expect(late.rateOf('USD/MYR')).toMatchObject({
      minorPerUsd: 420n,
      reference: { source: 'bnm' },
    })
  })

  test('lets an operator release a jump by one put of the NATS CLI', async () => {
    const asOf = new Date(fixture.time.nowMs).toISOString().slice(0, 10)
    const jumped = {
      source: 'bnm',
      pair: 'USD/MYR',
      localE8PerUsd: 460_000_000n,
      asOfMs: Date.parse(asOf),
    } as const
    const source = {
      name: 'bnm',
      pairs: ['USD/MYR'] as const,
      checkOnly: false,
      ask: async () => jumped,
    }
    const store = fixture.context.rates
    await store.accept({ ...jumped, localE8PerUsd: 420_000_000n })
    await using other = await openRateBoard({ ...fixture.context, sources: [source] })
    expect(other.rateOf('USD/MYR')).toHaveProperty('unavailable')
    const admin = await fixture.open('admin')
    const kv = await admin.js.views.kv('rates', { bindOnly: true })
    await kv.put('release.usd-myr', asOf)
    await other.poll()
    expect(other.rateOf('USD/MYR')).toMatchObject({ minorPerUsd: 460n })
  })
})
