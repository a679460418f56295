import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { openLog } from '#platform/log'
import { PricingTerms, QuoteCreate, QuoteFind, QuoteTake } from '#shared/messages/pricing'
import type { Question } from '#shared/messages/topic'
import { noFee } from '#shared/money/fee'
import type { Pair } from '#shared/money/pair'
import { topupFeesFrom } from '#shared/money/topup-fee'
import { waitUntil } from '#test/support/wait'
import { lockQuotes } from './lock'
import { metricsOf } from './metrics'
import { mintQuoteId } from './quote-id'
import { openQuoteIssuer } from './quote-issuer'
import { dayOf, type RateSource, type Sighting } from './rate'
import { openRateCache } from './rate-cache'
import { type Fixture, openFixture } from './test-support'

let fixture: Fixture
let admin: Sql
beforeAll(async () => {
  fixture = await openFixture()
  admin = postgres(fixture.rows.adminUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await admin?.end({ timeout: 1 })
  await fixture?.[Symbol.asyncDispose]()
})

async function locked(pair: 'USD/IDR' | 'USD/MYR' = 'USD/IDR') {
  const answer = await fixture.ask(QuoteCreate, { pair })
  if ('refused' in answer) throw new Error(answer.refused)
  return answer.ok
}
const by = (quoteId: string, requestFingerprint = 'me') => ({ quoteId, requestFingerprint })
const lock = { pair: 'USD/IDR', minorPerUsd: 16_250n, spreadBps: 0n, use: 'any' } as const

let made = 0
function endingIn(ms: number, secret = fixture.context.quoteSecrets[0]): string {
  return mintQuoteId(secret, { ...lock, expiresAtMs: Date.now() + ms }, made++)
}
const takersOf = async (id: string): Promise<string[]> => {
  const rows = await admin`select request_fingerprint from pricing.quotes_taken where id = ${id}`
  return rows.map((row) => row.request_fingerprint)
}
const countTaken = async () =>
  (await admin<{ count: number }[]>`select count(*)::int as count from pricing.quotes_taken`)[0]!.count

describe('pricing, on a real nats-server and a real Postgres with the rights of its users,', () => {
  test.each([
    ['USD/IDR', '16250'],
    ['USD/MYR', '421'],
  ] as const)('locks %s at %s for 60 seconds', async (pair, rate) => {
    const before = Date.now()
    const quote = await locked(pair)
    expect(quote).toMatchObject({ pair, rate, spreadBps: 0 })
    expect(quote.reference).toEqual({ rate, source: 'fixed', asOf: expect.any(String) })
    expect(Math.abs(Date.parse(quote.reference!.asOf) - before)).toBeLessThan(120_000)
    expect(Date.parse(quote.expiresAt)).toBeGreaterThanOrEqual(before + 60_000)
    expect(Date.parse(quote.expiresAt)).toBeLessThan(Date.now() + 60_100)
  })

  test('gives the taker the same response again, and refuses others', async () => {
    const { reference: _, cashouts, reason, ...quote } = await locked()
    expect({ cashouts, reason }).toEqual({ cashouts: true, reason: 'market_open' })
    const answer = { ok: { ...quote, spreadBps: 0 } }
    expect(await fixture.ask(QuoteFind, by(quote.id))).toEqual(answer)
    expect(await fixture.ask(QuoteTake, by(quote.id))).toEqual(answer)
    expect(await fixture.ask(QuoteTake, by(quote.id.toUpperCase()))).toEqual(answer)
    expect(await fixture.ask(QuoteFind, by(quote.id))).toEqual(answer)
    expect(await fixture.ask(QuoteTake, by(quote.id, 'you'))).toEqual({ refused: 'quote_used' })
    expect(await fixture.ask(QuoteFind, by(quote.id, 'you'))).toEqual({ refused: 'quote_used' })
  })

  test('gives the taker of a quote the spread in its rate', async () => {
    const { context } = fixture
    const spreadsBps = new Map([['USD/MYR', 50n]] as const)
    await using board = await openRateCache({
      ...context,
      guards: { ...context.guards, spreadsBps },
    })
    const verdict = board.rateOf('USD/MYR')
    if ('unavailable' in verdict) throw new Error(verdict.unavailable)
    const wide = { pair: 'USD/MYR', ...verdict.payIn, use: 'any', expiresAtMs: Date.now() + 60_000 } as const
    const quoteId = mintQuoteId(context.quoteSecrets[0], wide, 0)
    const answer = { ok: { rate: '424', spreadBps: 50 } }
    expect(await fixture.ask(QuoteFind, by(quoteId))).toMatchObject(answer)
    expect(await fixture.ask(QuoteTake, by(quoteId))).toMatchObject(answer)
  })

  // guard: a quote for money that comes in prices no cash-out
  test('security: gives a quote for money that comes in to no cash-out, whoever has taken it', async () => {
    const quoteId = mintQuoteId(
      fixture.context.quoteSecrets[0],
      { ...lock, use: 'pay_in', expiresAtMs: Date.now() + 60_000 },
      made++,
    )
    const refused = { refused: 'cashout_rate_unavailable' }
    for (const use of ['pay_out', undefined] as const)
      for (const question of [QuoteFind, QuoteTake])
        expect(await fixture.ask(question, { ...by(quoteId), ...(use && { use }) })).toEqual(refused as never)
    expect(await takersOf(quoteId)).toEqual([])
    expect(await fixture.ask(QuoteTake, { ...by(quoteId), use: 'pay_in' })).toMatchObject({ ok: { id: quoteId } })
    expect(await fixture.ask(QuoteTake, { ...by(quoteId), use: 'pay_out' })).toEqual(refused as never)
  })

  // guard: a quote for cash-outs prices no money that comes in
  test('security: gives a quote for cash-outs to no top-up and to no settlement', async () => {
    const end = Date.now() + 60_000
    const payOut = { pair: 'USD/IDR', minorPerUsd: 16_168n, spreadBps: -50n, use: 'pay_out', expiresAtMs: end } as const
    const quoteId = mintQuoteId(fixture.context.quoteSecrets[0], payOut, made++)
    const refused = { refused: 'quote_for_cashouts' }
    for (const use of ['pay_in', undefined] as const)
      for (const question of [QuoteFind, QuoteTake])
        expect(await fixture.ask(question, { ...by(quoteId), ...(use && { use }) })).toEqual(refused as never)
    expect(await takersOf(quoteId)).toEqual([])
    expect(await fixture.ask(QuoteTake, { ...by(quoteId), use: 'pay_out' })).toMatchObject({
      ok: { id: quoteId, rate: '16168', spreadBps: -50 },
    })
  })

  test('names the fee of a cash-out in its quote, and does not know a quote of another fee', async () => {
    const charging = { ...fixture.context, cashoutFee: { fixedMinor: 5_550n, bps: 25n } }
    const cashoutFee = { fixed: '5550', bps: 25 }
    const answersOf = async (context: typeof charging) => {
      const board = await openRateCache(context)
      const answers = lockQuotes(context, { rateOf: board.rateOf, mint: openQuoteIssuer(context) })
      await board[Symbol.asyncDispose]()
      return (asked: Question, request: object) =>
        answers.find(({ question }) => question === asked)!.answer(request) as Promise<{ ok?: { id: string } }>
    }
    const ask = await answersOf(charging)
    const quoted = await ask(QuoteCreate, { pair: 'USD/IDR', use: 'pay_out' })
    expect(quoted).toMatchObject({ ok: { cashouts: true, cashoutFee } })
    const asked = { ...by(quoted.ok!.id), use: 'pay_out' }
    expect(await ask(QuoteFind, asked)).toMatchObject({ ok: { cashoutFee } })
    expect(await ask(QuoteFind, { ...asked, use: 'pay_in' })).not.toHaveProperty('ok.cashoutFee')
    expect((await ask(QuoteCreate, { pair: 'USD/MYR' })).ok).not.toHaveProperty('cashoutFee')
    expect(await ask(PricingTerms, {})).toMatchObject({ ok: { cashoutFee } })
    for (const other of [noFee, { fixedMinor: 5_550n, bps: 26n }]) {
      const changed = await answersOf({ ...charging, cashoutFee: other })
      expect(await changed(QuoteFind, asked)).toEqual({ refused: 'quote_unknown' } as never)
    }
    expect(await (await answersOf({ ...charging, cashoutFee: noFee }))(PricingTerms, {})).not.toHaveProperty(
      'ok.cashoutFee',
    )
  })

  test('names the fees of top-ups in quotes for money that comes in, and does not know a quote of other fees', async () => {
    const withFees = (text: string) => ({
      ...fixture.context,
      topupFees: new Map([['USD/IDR' as const, topupFeesFrom(text)]]),
    })
    const topupFees = [
      { channel: 'qr', fixed: '0', bps: 70 },
      { channel: 'card', fixed: '2220', bps: 322 },
    ]
    const answersOf = async (context: ReturnType<typeof withFees>) => {
      const board = await openRateCache(context)
      const answers = lockQuotes(context, { rateOf: board.rateOf, mint: openQuoteIssuer(context) })
      await board[Symbol.asyncDispose]()
      return (asked: Question, request: object) =>
        answers.find(({ question }) => question === asked)!.answer(request) as Promise<{ ok?: { id: string } }>
    }
    const ask = await answersOf(withFees('qr=0+70,card=2220+322'))
    const quoted = await ask(QuoteCreate, { pair: 'USD/IDR' })
    expect(quoted).toMatchObject({ ok: { topupFees } })
    const asked = { ...by(quoted.ok!.id), use: 'pay_in' }
    expect(await ask(QuoteFind, asked)).toMatchObject({ ok: { topupFees } })
    expect(await ask(QuoteFind, { ...asked, use: 'pay_out' })).not.toHaveProperty('ok.topupFees')
    expect((await ask(QuoteCreate, { pair: 'USD/MYR' })).ok).not.toHaveProperty('topupFees')
    expect(await ask(PricingTerms, {})).toMatchObject({
      ok: { topupFees: topupFees.map((fee) => ({ pair: 'USD/IDR', ...fee })) },
    })
    for (const other of ['', 'qr=0+71,card=2220+322']) {
      const changed = await answersOf(withFees(other))
      expect(await changed(QuoteFind, asked)).toEqual({ refused: 'quote_unknown' } as never)
    }
    expect(await (await answersOf(withFees('')))(PricingTerms, {})).not.toHaveProperty('ok.topupFees')
  })

  test('quotes each direction at its own rate while the market is closed', async () => {
    const asOfMs = Date.parse('2026-11-20')
    const sunday = () => Date.parse('2026-11-22T12:00:00Z')
    const at = (name: string, neverCloses: boolean, time: number) => ({
      name,
      pairs: ['USD/IDR'] as const,
      neverCloses,
      checkOnly: neverCloses,
      ask: async () => ({ source: name, pair: 'USD/IDR' as const, localE8PerUsd: 1_625_000_000_000n, asOfMs: time }),
    })
    const sources = [at('friday', false, asOfMs), at('market', true, sunday())]
    const context = { ...fixture.context, clock: sunday, sources }
    await using board = await openRateCache(context)
    const answers = lockQuotes(context, { rateOf: board.rateOf, mint: openQuoteIssuer(context) })
    const create = answers.find(({ question }) => question === QuoteCreate)!.answer as (
      request: object,
    ) => Promise<object>
    const metrics = metricsOf(board.figures()).filter(({ labels }) => labels?.pair === 'USD/IDR')
    const figureOf = (name: string) => metrics.find((metric) => metric.name.endsWith(name))?.value
    expect({ usable: figureOf('rate_usable'), doubtful: figureOf('rate_doubtful') }).toEqual({ usable: 1, doubtful: 0 })
    const closed = { reason: 'market_closed' }
    expect(await create({ pair: 'USD/IDR' })).toMatchObject({
      ok: { ...closed, rate: '16332', spreadBps: 50, cashouts: false },
    })
    expect(await create({ pair: 'USD/IDR', use: 'pay_out' })).toMatchObject({
      ok: { ...closed, rate: '16168', spreadBps: -50, cashouts: true },
    })
    expect(await create({ pair: 'USD/MYR', use: 'pay_out' })).toMatchObject({ refused: 'rate_unavailable' })
  })

  test('stores nothing for an unused quote, and one row for a used one', async () => {
    const before = await countTaken()
    const [quote] = [await locked(), await locked('USD/MYR')]
    await fixture.ask(QuoteFind, by(quote.id))
    expect(await countTaken()).toBe(before)
    await fixture.ask(QuoteTake, by(quote.id))
    await fixture.ask(QuoteTake, by(quote.id, 'you'))
    expect(await countTaken()).toBe(before + 1)
    expect(await takersOf(quote.id)).toEqual(['me'])
  })

  test('does not take a quote that is only looked up', async () => {
    const quote = await locked()
    await fixture.ask(QuoteFind, by(quote.id, 'you'))
    expect(await fixture.ask(QuoteTake, by(quote.id))).toMatchObject({ ok: { id: quote.id } })
  })

  test('locks nothing if its rate is too old', async () => {
    fixture.time.aheadMs = 97 * 3_600_000
    const answer = await fixture.ask(QuoteCreate, { pair: 'USD/IDR' })
    fixture.time.aheadMs = 0
    expect(answer).toEqual({ refused: 'rate_unavailable' })
  })
})

describe('the expiry of a quote', () => {
  test.each([
    // guard: a quote is taken before it expires, by the database clock
    ['right', 0],
    ['an hour late', -3_600_000],
    ['an hour early', 3_600_000],
  ])('follows the clock of the database while those of the instances are %s', async (_, aheadMs) => {
    const [free, ended] = [endingIn(60_000), endingIn(-1)]
    fixture.time.aheadMs = aheadMs
    const found = [await fixture.ask(QuoteFind, by(free)), await fixture.ask(QuoteFind, by(ended))]
    const taken = [await fixture.ask(QuoteTake, by(free)), await fixture.ask(QuoteTake, by(ended))]
    fixture.time.aheadMs = 0
    for (const answers of [found, taken])
      expect(answers).toMatchObject([{ ok: { id: free } }, { refused: 'quote_expired' }])
    expect(await takersOf(ended)).toEqual([])
  })

  // guard: a quote is taken no earlier than it can have been issued, by the database clock
  test('is past for a quote that ends later than any issued now, as by a clock that was ahead', async () => {
    const [early, right] = [endingIn(7_200_000), endingIn(90_000)]
    for (const question of [QuoteFind, QuoteTake]) {
      expect(await fixture.ask(question, by(early))).toEqual({ refused: 'quote_expired' })
      expect(await fixture.ask(question, by(right))).toMatchObject({ ok: { id: right } })
    }
    expect(await takersOf(early)).toEqual([])
  })

  test('does not change the response to its taker, nor that to a late caller', async () => {
    const quoteId = endingIn(-1)
    await admin`insert into pricing.quotes_taken (id, request_fingerprint, expires_at)
      values (${quoteId}, 'me', now())`
    expect(await fixture.ask(QuoteTake, by(quoteId))).toMatchObject({ ok: { id: quoteId } })
    expect(await fixture.ask(QuoteTake, by(quoteId, 'you'))).toEqual({ refused: 'quote_used' })
  })

  test('security: a taken quote that expired is not found again, so no new promise begins with it', async () => {
    const quoteId = endingIn(-1)
    await admin`insert into pricing.quotes_taken (id, request_fingerprint, expires_at)
      values (${quoteId}, 'me', now())`
    expect(await fixture.ask(QuoteFind, by(quoteId))).toEqual({ refused: 'quote_expired' })
    expect(await fixture.ask(QuoteFind, by(quoteId, 'you'))).toEqual({ refused: 'quote_used' })
  })

  test('is reported for a quote made long ago, whatever happened since', async () => {
    const quoteId = endingIn(-86_400_000)
    expect(await fixture.ask(QuoteFind, by(quoteId))).toEqual({ refused: 'quote_expired' })
  })
})

describe('security: a quote', () => {
  // guard: a quote is taken once
  test('serves a top-up or a cash-out, never both, and neither of them twice', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await locked()
      const written = (at: number) => (at % 3 === 0 ? id.toUpperCase() : id)
      const takers = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? `topup ${at}` : `cashout:${at}`))
      const takings = await Promise.all(takers.map((taker, at) => fixture.ask(QuoteTake, by(written(at), taker))))
      const winners = takers.filter((_, at) => 'ok' in takings[at]!)
      expect(winners).toHaveLength(1)
      expect(await takersOf(id)).toEqual(winners)
      const refused = takings.filter((taking) => 'refused' in taking)
      expect(refused).toEqual(Array(19).fill({ refused: 'quote_used' }))
    }
  })

  test('is given to its one taker twenty times at once, with one row', async () => {
    const { reference: _, cashouts: __, reason: ___, ...quote } = await locked()
    const takings = await Promise.all(Array.from({ length: 20 }, () => fixture.ask(QuoteTake, by(quote.id))))
    expect(takings).toEqual(Array(20).fill({ ok: { ...quote, spreadBps: 0 } }))
    expect(await takersOf(quote.id)).toHaveLength(1)
  })

  test.each<[string, () => string]>([
    ['a random one', () => crypto.randomUUID()],
    ["one of another service's secret", () => endingIn(60_000, 'not a secret of ours at all')],
    ['one that was altered', () => endingIn(60_000).replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
    ['one of an unknown version', () => endingIn(60_000).replace(/^(.{14})8/, '$17')],
  ])('that is %s is refused as unknown, and stores nothing', async (_, make) => {
    const quoteId = make()
    const before = await countTaken()
    expect(await fixture.ask(QuoteFind, by(quoteId))).toEqual({ refused: 'quote_unknown' })
    expect(await fixture.ask(QuoteTake, by(quoteId))).toEqual({ refused: 'quote_unknown' })
    expect(await countTaken()).toBe(before)
  })

  test('of the previous secret can be taken while that secret is configured, and not afterwards', async () => {
    const [old] = fixture.context.quoteSecrets
    const answersWith = (quoteSecrets: readonly [string, ...string[]]) => {
      const nobody = { rateOf: () => ({ unavailable: 'suite' }), mint: () => expect.unreachable() }
      const answers = lockQuotes({ ...fixture.context, quoteSecrets }, nobody)
      return (asked: Question, quoteId: string) =>
        answers.find(({ question }) => question === asked)!.answer(by(quoteId))
    }
    const next = 'the secret that comes after it, and is longer'
    const [kept, forgotten] = [endingIn(60_000), endingIn(60_000)]
    const rotating = answersWith([next, old])
    expect(await rotating(QuoteTake, kept)).toMatchObject({ ok: { id: kept } })
    expect(await answersWith([next])(QuoteTake, forgotten)).toEqual({ refused: 'quote_unknown' })
    expect(await rotating(QuoteTake, endingIn(60_000, next))).toMatchObject({ ok: {} })
  })
})

const ringgitFrom = (name: string, ask: RateSource['ask']): RateSource => ({
  name,
  pairs: ['USD/MYR'],
  neverCloses: false,
  checkOnly: false,
  ask,
})

const ringgit = (source: string, localE8PerUsd: bigint, ageMs = 60_000): Sighting => ({
  source,
  pair: 'USD/MYR',
  localE8PerUsd,
  asOfMs: Date.now() - ageMs,
})

describe('while the rates bucket cannot be read', () => {
  let usual: Sighting
  beforeAll(async () => {
    usual = (await fixture.context.rates.findAccepted('USD/MYR'))!
  })
  afterEach(() => fixture.context.rates.accept(usual))

  test('there is no rate, and no jump replaces the last used one', async () => {
    const { context } = fixture
    const last = ringgit('leaping', 400_000_000n)
    await context.rates.accept(last)
    const leaping = ringgitFrom('leaping', async () => ringgit('leaping', 500_000_000n, 0))
    const silent = () => Promise.reject(new Error('no answer'))
    let findAccepted: typeof context.rates.findAccepted = silent
    const rates = { ...context.rates, findAccepted: (pair: Pair) => findAccepted(pair) }
    await using cache = await openRateCache({ ...context, rates, sources: [leaping] })
    expect(cache.rateOf('USD/MYR')).toMatchObject({ unavailable: expect.stringContaining('cannot be read') })
    expect(await context.rates.findAccepted('USD/MYR')).toEqual(last)
    findAccepted = context.rates.findAccepted
    await cache.poll()
    expect(cache.rateOf('USD/MYR')).toMatchObject({ unavailable: expect.stringContaining('jumped') })
    expect(await context.rates.findAccepted('USD/MYR')).toEqual(last)
  })

  test('as its last used rate is malformed, there is no rate until an operator releases one', async () => {
    const { context } = fixture
    const kv = await (await fixture.open('admin')).js.views.kv('rates', { bindOnly: true })
    await kv.put('accepted.usd-myr', '{"source":"a"}')
    const fresh = ringgit('a', 500_000_000n, 0)
    const source = ringgitFrom('a', async () => fresh)
    await using cache = await openRateCache({ ...context, sources: [source] })
    expect(cache.rateOf('USD/MYR')).toMatchObject({ unavailable: expect.stringContaining('cannot be read') })
    await kv.put('release.usd-myr', dayOf(fresh.asOfMs))
    await cache.poll()
    expect(cache.rateOf('USD/MYR')).toHaveProperty('payIn')
    expect(await context.rates.findAccepted('USD/MYR')).toEqual(fresh)
    await kv.delete('release.usd-myr')
  })

  test('it keeps the last rate of a source, which may be newer than the answer of the source', async () => {
    const { context } = fixture
    const newest = ringgit('kept', 421_000_000n)
    await context.rates.remember(newest)
    const source = ringgitFrom('kept', async () => ringgit('kept', 423_000_000n, 3_660_000))
    const rates = { ...context.rates, recall: () => Promise.reject(new Error('no answer')) }
    await using _cache = await openRateCache({ ...context, rates, sources: [source] })
    expect(await context.rates.recall('kept', 'USD/MYR')).toEqual(newest)
  })
})

describe('the rates bucket', () => {
  test('stores the rate last used, with its source and date, for the next start', async () => {
    const store = fixture.context.rates
    const accepted = await store.findAccepted('USD/MYR')
    expect(accepted).toMatchObject({ source: 'fixed', localE8PerUsd: 421_000_000n })
    expect(await store.recall('fixed', 'USD/MYR')).toEqual(accepted)
  })

  test('allows quotes from the last rate while all sources are down', async () => {
    const down = ringgitFrom('bnm', () => Promise.reject(new Error('down')))
    const store = fixture.context.rates
    await store.remember({
      source: 'bnm',
      pair: 'USD/MYR',
      localE8PerUsd: 420_000_000n,
      asOfMs: Date.now(),
    })
    await using late = await openRateCache({ ...fixture.context, sources: [down] })
    expect(late.rateOf('USD/MYR')).toMatchObject({
      payIn: { minorPerUsd: 420n },
      reference: { source: 'bnm' },
    })
  })

  // guard: a rate is never followed by an older one of its source
  test('security: quotes no older rate of a source, if its copies answer in turn or another instance knows a newer one', async () => {
    const { context } = fixture
    const dayMs = 86_400_000
    const rateOf = (localE8PerUsd: bigint, ageMs: number) => ringgit('copies', localE8PerUsd, ageMs)
    const [old, newer] = [rateOf(430_000_000n, dayMs), rateOf(433_000_000n, 60_000)]
    const answering = (answers: Sighting[]) => ringgitFrom('copies', async () => answers.shift() ?? old)
    const openWith = (answers: Sighting[]) => openRateCache({ ...context, sources: [answering(answers)] })
    const quoted = { reference: { localE8PerUsd: 433_000_000n } }
    await using one = await openWith([newer, old])
    expect(one.rateOf('USD/MYR')).toMatchObject(quoted)
    await one.poll()
    expect(one.rateOf('USD/MYR')).toMatchObject(quoted)
    await using other = await openWith([old])
    expect(other.rateOf('USD/MYR')).toMatchObject(quoted)
    // A date that no source can have yet is an error, after which the present rate counts.
    const wrong = rateOf(431_000_000n, -3 * dayMs)
    const right = rateOf(434_000_000n, 30_000)
    await using third = await openWith([wrong, right])
    await third.poll()
    expect(third.rateOf('USD/MYR')).toMatchObject({ reference: { localE8PerUsd: 434_000_000n } })
  })

  test.each(['{"source":"mended"}', 'no JSON'])('has a malformed rate of a source replaced: %s', async (malformed) => {
    const { context } = fixture
    const kv = await (await fixture.open('admin')).js.views.kv('rates', { bindOnly: true })
    await kv.put('seen.mended.usd-myr', malformed)
    const rate = ringgit('mended', 421_000_000n)
    await using _cache = await openRateCache({ ...context, sources: [ringgitFrom('mended', async () => rate)] })
    expect(await context.rates.recall('mended', 'USD/MYR')).toEqual(rate)
  })

  test('has no rate of a source that answers only with one that is too old, whatever it gave before', async () => {
    const dated = (ageMs: number) => ringgit('stopped', 421_000_000n, ageMs)
    const answers = [dated(60_000)]
    const stopped = ringgitFrom('stopped', async () => answers.shift() ?? dated(40 * 86_400_000))
    await using cache = await openRateCache({ ...fixture.context, sources: [stopped] })
    expect(cache.rateOf('USD/MYR')).toMatchObject({ payIn: expect.anything() })
    await cache.poll()
    expect(cache.rateOf('USD/MYR')).toHaveProperty('unavailable')
  })

  test('raises an alarm for a pair without a rate', async () => {
    const raised: object[] = []
    const write = (line: string) => {
      const { alarm, msg, pair } = JSON.parse(line)
      if (alarm) raised.push({ msg, pair })
    }
    const down = ringgitFrom('open-er-api', () => Promise.reject(new Error('down')))
    const log = openLog('pricing', 'error', { write })
    await using _none = await openRateCache({ ...fixture.context, log, sources: [down] })
    await waitUntil('the alarm', () => raised.length > 0)
    expect(raised).toContainEqual({ msg: 'no rate to quote', pair: 'USD/MYR' })
  })

  test('lets an operator release a jump with one put of the NATS CLI', async () => {
    const asOf = new Date(Date.now()).toISOString().slice(0, 10)
    const jumped = {
      source: 'jumping',
      pair: 'USD/MYR',
      localE8PerUsd: 460_000_000n,
      asOfMs: Date.parse(asOf),
    } as const
    const source = ringgitFrom('jumping', async () => jumped)
    const store = fixture.context.rates
    await store.accept({ ...jumped, localE8PerUsd: 420_000_000n })
    await using other = await openRateCache({ ...fixture.context, sources: [source] })
    expect(other.rateOf('USD/MYR')).toHaveProperty('unavailable')
    const operator = await fixture.open('ops')
    const kv = await operator.js.views.kv('rates', { bindOnly: true })
    await kv.put('release.usd-myr', asOf)
    await other.poll()
    expect(other.rateOf('USD/MYR')).toMatchObject({ reference: { localE8PerUsd: 460_000_000n } })
  })
})
