import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { newWallet, openFixture } from '../test-support'
import { sumPromised } from './promise.store'
import { coverFigures, openTreasury, watchTreasury } from './treasury'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(() => {
  Object.assign(fixture.chain, { verified: true, drawn: '0', owed: 0n })
})

/** AUSD (10⁻⁶) for Rp 50,000 at the fixture's rate. */
const topupMicro = 3_076_923n
const ask = (quoteId: string, more: object = {}) => ({
  wallet: newWallet(),
  amount: '50000',
  method: 'qr',
  quoteId,
  ...more,
})
const promisedMicro = (readAt = new Date(fixture.context.clock())) =>
  fixture.database.read((db) => sumPromised(db, readAt))
/** Gives the treasury `moreMicro` in addition to the existing promises. */
async function treasuryWith(moreMicro: bigint, change: object = {}) {
  const balance = (await promisedMicro()) + moreMicro
  fixture.chain.treasury = { balance, drawable: 10n ** 15n, ordered: 0n, ...change }
  await fixture.context.treasury.refresh()
}

describe('a top-up that the treasury does not cover', () => {
  // guard: no top-up is accepted that the treasury does not cover
  test('is refused, and its quote is usable as soon as the treasury is funded', async () => {
    await treasuryWith(2n * topupMicro - 1n)
    const quoteId = fixture.quote()
    const asked = ask(quoteId)
    const before = (await fixture.rows()).length
    expect(await fixture.topup(asked)).toEqual({ refused: 'treasury_short' })
    expect(await fixture.rows()).toHaveLength(before)
    expect(fixture.quotes.get(quoteId)!.requestFingerprint).toBeUndefined()
    await treasuryWith(2n * topupMicro)
    expect(await fixture.topup({ ...asked, wallet: newWallet() })).toHaveProperty('ok')
  })

  test.each([
    ['an unknown quote', 'quote_unknown', { quoteId: crypto.randomUUID() }],
    ['too little', 'amount_below_minimum_idr', { amount: '9999' }],
    ['too much for any channel', 'amount_above_maximum', { amount: '50000000001' }],
    ['too much for a day', 'amount_above_day_limit', { amount: '5000000000' }],
  ] as const)('is refused for %s first', async (_, refused, more) => {
    await treasuryWith(0n)
    expect(await fixture.topup(ask(fixture.quote(), more))).toEqual({ refused })
  })

  test('is refused by the daily limit, or else by the most that the relayer credits at once', async () => {
    const { dayMicroMax } = fixture.context.topupLimits
    for (const [creditMax, refused] of [
      [dayMicroMax, 'amount_above_day_limit'],
      [topupMicro - 1n, 'amount_above_maximum'],
    ] as const) {
      fixture.chain.creditMax = creditMax
      await treasuryWith(0n)
      const amount = refused === 'amount_above_maximum' ? {} : { amount: '5000000000' }
      expect(await fixture.topup(ask(fixture.quote(), amount))).toEqual({ refused })
    }
    fixture.chain.creditMax = 10n ** 15n
    await treasuryWith(0n)
  })

  test('is refused first for a used or expired quote', async () => {
    await treasuryWith(0n)
    const [used, expired] = [fixture.quote(), fixture.quote()]
    fixture.quotes.get(used)!.requestFingerprint = 'somebody'
    fixture.quotes.get(expired)!.over = true
    expect(await fixture.topup(ask(used))).toEqual({ refused: 'quote_used' })
    expect(await fixture.topup(ask(expired))).toEqual({ refused: 'quote_expired' })
  })

  test('gets its first response again if it was opened before', async () => {
    await treasuryWith(2n * topupMicro)
    const asked = ask(fixture.quote())
    const first = await fixture.topup(asked)
    await treasuryWith(-topupMicro)
    expect(await fixture.topup(asked)).toEqual(first)
  })
})

describe('security: many concurrent top-ups', () => {
  // guard: top-ups are promised one at a time across all instances
  test('open ten of forty if the treasury covers ten', async () => {
    await treasuryWith(11n * topupMicro)
    const calls = Array.from({ length: 40 }, () => ask(fixture.quote()))
    const answers = await Promise.all(calls.map((asked) => fixture.topup(asked)))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(10)
    const refused = answers.flatMap(({ refused }, at) => (refused ? [{ refused, at }] : []))
    expect(new Set(refused.map((one) => one.refused))).toEqual(new Set(['treasury_short']))
    for (const { at } of refused) expect(fixture.quotes.get(calls[at]!.quoteId)!.requestFingerprint).toBeUndefined()
  })

  test('promise nothing if their quotes expire as they are taken', async () => {
    await treasuryWith(2n * topupMicro)
    const late = fixture.quote()
    fixture.quotes.get(late)!.expiresOnTake = true
    expect(await fixture.topup(ask(late))).toEqual({ refused: 'quote_expired' })
    expect(await fixture.topup(ask(fixture.quote()))).toHaveProperty('ok')
  })
})

describe('security: unpaid checkouts', () => {
  // guard: a wallet's unpaid top-ups hold at most half of the free AUSD
  test('of one wallet reserve at most half of the otherwise free AUSD', async () => {
    await treasuryWith(10n * topupMicro)
    const wallet = newWallet()
    const answers: (string | undefined)[] = []
    for (let number = 0; number < 6; number++)
      answers.push((await fixture.topup(ask(fixture.quote(), { wallet }))).refused)
    expect(answers).toEqual([...Array(5).fill(undefined), 'treasury_short'])
    expect(await fixture.topup(ask(fixture.quote()))).toHaveProperty('ok')
  })

  test('of three wallets at their maximum leave a share to others', async () => {
    await treasuryWith(48n * topupMicro)
    for (const wallet of [newWallet(), newWallet(), newWallet()])
      for (;;) if ((await fixture.topup(ask(fixture.quote(), { wallet }))).refused) break
    expect(await fixture.topup(ask(fixture.quote()))).toHaveProperty('ok')
  })

  test('count against their wallet for the day after they expire, except those never shown', async () => {
    await treasuryWith(100n * topupMicro)
    const limited = { openMax: 100, openMicroMax: 10n ** 11n, dayCountMax: 100, dayMicroMax: 2n * topupMicro }
    const wallet = newWallet()
    const create = () => fixture.topupWithin(limited)(ask(fixture.quote(), { wallet }))
    await fixture.control('faults', { api: { errorRate: 1 } })
    expect((await create()).refused).toBe('provider_unavailable')
    await fixture.control('faults', {})
    await fixture.recheck(601_000)
    for (let number = 0; number < 2; number++) {
      const { paymentId } = (await create()).ok!
      await fixture.control(`sessions/${paymentId}/expire`)
      await fixture.becomes(paymentId, { state: 'expired' })
    }
    expect((await create()).refused).toBe('day_limit_reached')
    fixture.time.aheadMs = 0
    await fixture.context.treasury.refresh()
  })
})

describe('the daily limit of top-ups', () => {
  const hourMs = 3_600_000
  /** Moves the clock to an hour of the next day in UTC. */
  const moveTo = (hour: number) => {
    fixture.time.aheadMs = 0
    const now = fixture.context.clock()
    fixture.time.aheadMs = Math.floor(now / (24 * hourMs)) * 24 * hourMs + (24 + hour) * hourMs - now
  }

  test('counts each payment until midnight in the country of its currency', async () => {
    await treasuryWith(10_000n * topupMicro)
    const limited = { openMax: 100, openMicroMax: 10n ** 11n, dayCountMax: 100, dayMicroMax: 3n * topupMicro }
    const wallet = newWallet()
    const create = async (pair: 'USD/IDR' | 'USD/MYR') => {
      const amount = pair === 'USD/MYR' ? '1295' : '50000'
      const quoteId = pair === 'USD/MYR' ? fixture.quote(pair, '421') : fixture.quote(pair)
      return (await fixture.topupWithin(limited)({ wallet, quoteId, amount, method: 'qr' })).refused
    }
    const endsAt = async () =>
      ((await fixture.limit({ wallet })).ok as unknown as { resetsAt: string }).resetsAt.slice(11, 16)
    moveTo(15)
    await fixture.context.treasury.refresh()
    expect([await create('USD/IDR'), await create('USD/IDR'), await create('USD/MYR')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(await create('USD/IDR')).toBe('day_limit_reached')
    // Midnight in Kuala Lumpur: only the payment in ringgit is of yesterday.
    moveTo(16.5)
    await fixture.context.treasury.refresh()
    expect(await endsAt()).toBe('17:00')
    expect([await create('USD/MYR'), await create('USD/MYR')]).toEqual([undefined, 'day_limit_reached'])
    // Midnight in Jakarta: the payment in ringgit of half an hour ago is still of today.
    moveTo(17)
    await fixture.context.treasury.refresh()
    expect(await endsAt()).toBe('16:00')
    expect([await create('USD/IDR'), await create('USD/IDR'), await create('USD/IDR')]).toEqual([
      undefined,
      undefined,
      'day_limit_reached',
    ])
    fixture.time.aheadMs = 0
    await fixture.context.treasury.refresh()
  })
})

describe('the promised total', () => {
  test('includes a payment until a treasury reading after its credit', async () => {
    await treasuryWith(2n * topupMicro)
    const before = await promisedMicro()
    const { paymentId } = (await fixture.topup(ask(fixture.quote()))).ok!
    expect((await promisedMicro()) - before).toBe(topupMicro)
    await fixture.control(`sessions/${(await fixture.row(paymentId))!.checkoutId}/pay`, {
      channel_code: 'QRIS',
    })
    await fixture.becomes(paymentId, { state: 'paid' })
    expect((await promisedMicro()) - before).toBe(topupMicro)
    const readAt = new Date(fixture.context.clock() + 900) // This reading is by a clock that is ahead of the others.
    const unsettled = await promisedMicro(readAt)
    await fixture.settle('credit', paymentId)
    await fixture.becomes(paymentId, { state: 'credited' })
    expect(await promisedMicro(readAt)).toBe(unsettled)
    // The credit stays excluded from later readings, even after the time of that reading has passed.
    fixture.time.aheadMs += 60_000
    expect(unsettled - (await promisedMicro())).toBe(topupMicro)
  })

  const insertOpen = (from: number, to: number) =>
    run(sql`insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd,
      fiat_minor, ausd_micro, quote_id, request_fingerprint, account, checkout_url)
      select 'pay_many_' || n, 'topup', 'awaiting_payment', '0x00', 'USD/IDR', 'IDR', 16250, 50000, 3076923,
        'many' || n, 'x', 'ID', 'u' from generate_series(${from}::int, ${to}::int) n`)
  const run = (statement: SQL) => fixture.database.run((db) => db.execute(statement))
  const numberOf = async (statement: SQL) => BigInt(String((await run(statement))[0]!.number))

  test('includes a thousand open checkouts in a handful of rows', async () => {
    const before = await promisedMicro()
    await insertOpen(1, 1_000)
    expect((await promisedMicro()) - before).toBe(1_000n * topupMicro)
    expect(await numberOf(sql`select count(*) as number from payments.promise_parts`)).toBeLessThan(65n)
    await run(sql`update payments.payments set state = 'expired' where id like 'pay_many_%'`)
    expect(await promisedMicro()).toBe(before)
  })

  test.each([
    ['waits for its payer', `state = 'awaiting_payment'`, topupMicro],
    ['is paid', `state = 'paid', provider_payment_id = 'py-x'`, topupMicro],
    ['is half refunded', `state = 'paid', refunded_minor = 25000`, 1_538_461n],
    ['makes good a loss', `state = 'paid', refunded_minor = 0, recovered_micro = 3076922`, 1n],
    ['waits for a rate', `state = 'expired', recovered_micro = 0, reason = 'awaiting_rate'`, topupMicro],
    ['needs manual review', `state = 'review', reason = 'refunded_late'`, topupMicro],
    ['brought another amount', `state = 'review', reason = 'amount_differs'`, 0n],
    ['is credited', `state = 'credited', reason = null`, 0n],
  ])('counts a payment that %s', async (what, change, micro) => {
    const before = await promisedMicro()
    const id = `pay_state_${what}`
    await run(sql`insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd,
      fiat_minor, ausd_micro, quote_id, request_fingerprint, account, checkout_url, provider_payment_id)
      values (${id}, 'topup', 'opening', '0x00', 'USD/IDR', 'IDR', 16250, 50000, 3076923, ${id}, 'x', 'ID', 'u', ${id})`)
    await run(sql`update payments.payments set ${sql.raw(change.replace('py-x', id))} where id = ${id}`)
    expect((await promisedMicro()) - before).toBe(micro)
    await run(sql`update payments.payments set state = 'refunded', reason = null where id = ${id}`)
    expect(await promisedMicro()).toBe(before)
  })

  test('loses and repeats nothing when two transactions merge many rows concurrently', async () => {
    const before = await promisedMicro()
    const parts = Array.from({ length: 20 }, (_, index) => 2_000 + index * 100)
    await Promise.all(parts.map((from) => insertOpen(from, from + 99)))
    expect((await promisedMicro()) - before).toBe(2_000n * topupMicro)
    await run(sql`update payments.payments set state = 'expired' where id like 'pay_many_%'`)
    expect(await promisedMicro()).toBe(before)
  })
})

describe('AUSD of cash-outs', () => {
  // guard: AUSD owed to cash-outs is not promised to top-ups
  test('that may be returned is not free', async () => {
    fixture.chain.owed = topupMicro
    await treasuryWith(3n * topupMicro - 1n)
    expect(await fixture.topup(ask(fixture.quote()))).toEqual({ refused: 'treasury_short' })
    fixture.chain.owed = topupMicro - 1n
    await fixture.context.treasury.refresh()
    expect(await fixture.topup(ask(fixture.quote()))).toHaveProperty('ok')
  })

  test('counts by its last reading while payouts is silent, in another process too', async () => {
    fixture.chain.owed = 5n
    await treasuryWith(2n * topupMicro + 5n)
    fixture.chain.owed = null
    const { database, ask: question, clock, log } = fixture.context
    const treasury = openTreasury({
      database,
      ask: question,
      clock,
      log,
      readingMaxMs: 60_000,
    })
    expect(await treasury.current()).toMatchObject({ owedMicro: 5n })
    await fixture.context.treasury.refresh()
    expect(await fixture.topup(ask(fixture.quote()))).toHaveProperty('ok')
  })
})

describe('a treasury that cannot be read', () => {
  const minutesMs = 60_000

  // guard: a stale treasury balance covers nothing
  test('counts by its last reading for a while; then no top-up is opened, and a debt stays payable', async () => {
    await treasuryWith(2n * topupMicro)
    fixture.chain.treasury = null
    fixture.time.aheadMs += minutesMs - 5_000
    expect(await fixture.topup(ask(fixture.quote()))).toHaveProperty('ok')
    fixture.time.aheadMs += 10_000
    fixture.chain.drawn = '1000000'
    const quoteId = fixture.quote()
    expect(await fixture.topup(ask(quoteId))).toEqual({ refused: 'chain_unavailable' })
    expect(fixture.quotes.get(quoteId)!.requestFingerprint).toBeUndefined()
    expect(await fixture.settlement({ wallet: newWallet(), quoteId })).toHaveProperty('ok')
    await treasuryWith(topupMicro)
  })

  test('does not count by a reading that lies in the future of a clock set back since', async () => {
    await treasuryWith(2n * topupMicro)
    fixture.chain.treasury = null
    fixture.time.aheadMs -= 3_600_000
    expect(await fixture.topup(ask(fixture.quote()))).toEqual({ refused: 'chain_unavailable' })
    fixture.time.aheadMs += 3_600_000
    await treasuryWith(topupMicro)
  })

  test('and was never read lets no top-up open', async () => {
    const { database, ask: question, clock, log } = fixture.context
    fixture.chain.treasury = null
    const treasury = openTreasury({
      database,
      ask: question,
      clock,
      log,
      readingMaxMs: 60_000,
    })
    expect(await treasury.current()).toBeUndefined()
    expect(await coverFigures({ database, clock }, treasury)).toBeUndefined()
  })
})

describe('a settlement', () => {
  test('is opened whatever the promises to others, as long as the treasury can repay it', async () => {
    await treasuryWith(-1n)
    const { balance } = fixture.chain.treasury!
    fixture.chain.owed = balance
    await fixture.context.treasury.refresh()
    fixture.chain.drawn = String(balance)
    const quoteId = fixture.quote()
    expect(await fixture.settlement({ wallet: newWallet(), quoteId })).toHaveProperty('ok')
    fixture.chain.drawn = String(balance + 1n)
    const other = { wallet: newWallet(), quoteId: fixture.quote() }
    expect(await fixture.settlement(other)).toEqual({ refused: 'treasury_empty' })
    expect(fixture.quotes.get(other.quoteId)!.requestFingerprint).toBeUndefined()
    fixture.chain.treasury = { ...fixture.chain.treasury!, balance: balance + 1n }
    await fixture.context.treasury.refresh()
    expect(await fixture.settlement(other)).toHaveProperty('ok')
  })
})

test('an open checkout for a debt is kept if its replacement is refused', async () => {
  await treasuryWith(0n)
  fixture.chain.drawn = '1000000'
  const wallet = newWallet()
  const first = await fixture.settlement({ wallet, quoteId: fixture.quote() })
  fixture.chain.treasury = { balance: 999_999n, drawable: 10n ** 15n, ordered: 0n }
  await fixture.context.treasury.refresh()
  fixture.chain.drawn = '1000001'
  const second = await fixture.settlement({ wallet, quoteId: fixture.quote() })
  expect(second).toEqual({ refused: 'treasury_empty' })
  const { paymentId } = first.ok!
  expect(await fixture.row(paymentId)).toMatchObject({ state: 'awaiting_payment' })
})

test('an alert is raised before the treasury runs dry, and when it cannot be read', async () => {
  await treasuryWith(999n)
  const logged: { msg: string; alarm?: boolean }[] = []
  const write = (fields: object, msg: string) => void logged.push({ ...fields, msg })
  const log = { ...fixture.context.log, error: write, warn: write } as never
  const { database, ask: question, clock, treasury } = fixture.context
  const means = { database, ask: question, clock, log, treasury, readingMaxMs: 60_000 }
  const watched = async (lowMicro: bigint) => {
    logged.length = 0
    await watchTreasury({ ...means, lowMicro })[Symbol.asyncDispose]()
    return logged.map(({ msg, alarm }) => `${alarm} ${msg}`)
  }
  expect(await watched(999n)).toEqual([])
  expect(await watched(1_000n)).toEqual(['true treasury low on AUSD'])
  fixture.chain.treasury = null
  fixture.time.aheadMs += 61_000
  expect(await watched(0n)).toEqual(['true treasury unreadable, top-ups refused'])
})
