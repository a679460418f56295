import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { waitUntil } from '#test/support/wait'
import { type Fixture, openFixture } from '../test-support'
import { openBalance, watchBalance } from './balance'
import { sumPromisedAusd, sumPromisedFiat } from './promise.store'
import { mayReserve } from './reserve'

let fixture: Fixture
const time = { aheadMs: 0 }
beforeAll(async () => {
  fixture = await openFixture({ recheckAfterMs: 60_000 })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

/** Rupiah for 5 AUSD at the fixture's rate. */
const payoutMinor = 81_250n
const { clock } = { clock: () => fixture.context.clock() + time.aheadMs }
const unpaidMinor = () => fixture.database.read((db) => sumPromisedFiat(db, new Date(clock())))

async function balanceWith(moreMinor: bigint) {
  await fixture.control('balance', { amount: Number((await unpaidMinor()) + moreMinor) })
  const { database, provider, log } = fixture.context
  const balance = openBalance({ database, provider, clock, log, readingMaxMs: 300_000 })
  await balance.refresh()
  return balance
}
const isSilent = async () => new Response('', { status: 500 })

describe("a cash-out that the provider's balance does not cover", () => {
  // guard: no cash-out is accepted that the provider's balance does not cover
  test('is refused, and its quote is usable once the balance covers it', async () => {
    const balance = await balanceWith(payoutMinor - 1n)
    const asked = fixture.request()
    const before = (await fixture.rows()).length
    expect(await fixture.create(asked, { balance })).toEqual({ refused: 'payouts_short' })
    expect(await fixture.rows()).toHaveLength(before)
    expect(fixture.quotes.get(asked.quoteId)?.requestFingerprint).toBeUndefined()
    const filled = await balanceWith(payoutMinor)
    expect(await fixture.create(asked, { balance: filled })).toHaveProperty('ok')
  })

  test.each([
    [{ authorization: { value: '0' } }, 'value_zero'],
    [{ quoteId: crypto.randomUUID() }, 'quote_unknown'],
    [{ authorization: { value: '1' } }, 'payout_below_minimum'],
    [{ bank: { channelCode: 'ID_NOWHERE' } }, 'bank_unknown'],
    [{ authorization: { value: '100000000001' } }, 'amount_above_day_limit'],
  ] as const)('is refused first for a fault of the request: %o, %s', async (wrong, refused) => {
    const balance = await balanceWith(0n)
    expect(await fixture.create(fixture.request(wrong), { balance })).toEqual({ refused })
  })

  test('is accepted if the balance has grown since its last reading', async () => {
    const balance = await balanceWith(0n)
    await balanceWith(payoutMinor)
    const asked = fixture.request()
    const later = { balance, clock: () => clock() + 5_000 }
    expect(await fixture.create(asked, later)).toHaveProperty('ok')
  })
})

test('security: of forty concurrent cash-outs, with cover for ten, ten are accepted', async () => {
  const balance = await balanceWith(10n * payoutMinor + 1n)
  // Each request is of another wallet, to another account, so that no other lock puts them in order.
  const requests = Array.from({ length: 40 }, (_, at) => {
    const from = `0x${String(at).padStart(40, '0')}`
    const bank = { accountNumber: String(1_000_000_000 + at) }
    return fixture.request({ wallet: from, authorization: { from }, bank })
  })
  const answers = await Promise.all(requests.map((asked) => fixture.create(asked, { balance })))
  expect(answers.filter(({ ok }) => ok)).toHaveLength(10)
  const refused = requests.filter((_, at) => answers[at]!.refused === 'payouts_short')
  expect(refused).toHaveLength(30)
  for (const { quoteId } of refused) expect(fixture.quotes.get(quoteId)?.requestFingerprint).toBeUndefined()
})

// guard: rupiah are promised one at a time across all instances
test('security: a cash-out is not checked against the balance while another is being stored', async () => {
  const balance = await balanceWith(payoutMinor)
  const from = `0x${'9'.repeat(40)}`
  const bank = { accountNumber: '9999999999' }
  const answer = await fixture.database.transaction(async (tx) => {
    expect(await mayReserve(tx, balance.last()!, payoutMinor)).toBe(true)
    const asked = fixture.request({ wallet: from, authorization: { from }, bank })
    const second = fixture.create(asked, { balance })
    const waits = sql`select 1 from pg_locks where locktype = 'advisory' and not granted`
    const isWaiting = async () => (await fixture.database.read((db) => db.execute(waits))).length > 0
    await waitUntil('the second waiting for the lock', isWaiting, 5_000)
    return { second }
  })
  expect(await answer.second).toHaveProperty('ok')
})

test('a cash-out whose quote is refused reserves nothing, unlike one that may be retried', async () => {
  const balance = await balanceWith(payoutMinor)
  const [expiring, broken] = [fixture.request(), fixture.request()]
  fixture.quotes.get(expiring.quoteId)!.expiresOnTake = true
  expect(await fixture.create(expiring, { balance })).toEqual({ refused: 'quote_expired' })
  fixture.quotes.get(broken.quoteId)!.breaks = true
  expect(await fixture.create(broken, { balance })).toEqual({ refused: 'rate_unavailable' })
  expect(await fixture.create(fixture.request(), { balance })).toEqual({ refused: 'payouts_short' })
  delete fixture.quotes.get(broken.quoteId)!.breaks
  expect(await fixture.create(broken, { balance })).toHaveProperty('ok')
})

describe('a provider balance that cannot be read', () => {
  test('counts by its last reading for minutes; then no cash-out is accepted', async () => {
    const balance = await balanceWith(10n * payoutMinor)
    await fixture.detoured(isSilent, async () => {
      await balance.refresh()
      expect(await fixture.create(fixture.request(), { balance })).toHaveProperty('ok')
      time.aheadMs = 301_000
      const asked = fixture.request()
      expect(await fixture.create(asked, { balance })).toEqual({ refused: 'provider_unavailable' })
      expect(fixture.quotes.get(asked.quoteId)?.requestFingerprint).toBeUndefined()
    })
    expect(await fixture.create(fixture.request(), { balance })).toHaveProperty('ok')
    time.aheadMs = 0
  })

  test.each([
    ['123000.12', 123_000n],
    ['1000000000000', 1_000_000_000_000n],
    ['0', 0n],
    ['-5', 0n],
    ['"12"', undefined],
    ['1e30', undefined],
    ['null', undefined],
  ])('written as %s gives %p rupiah', async (written, minor) => {
    const say = async (call: Request) =>
      new URL(call.url).pathname === '/balance'
        ? new Response(`{"balance":${written}}`, {
            headers: { 'content-type': 'application/json' },
          })
        : undefined
    await fixture.detoured(say, async () => {
      const read = await fixture.context.provider.balance().catch(() => undefined)
      expect(read).toBe(minor)
    })
  })
})

test('the owed and unpaid totals include a cash-out until the bank was paid or the AUSD was returned', async () => {
  await balanceWith(100n * payoutMinor)
  const since = new Date(clock() + 900) // The time is by a clock that is ahead of the database's.
  const later = new Date(clock() + 3_600_000)
  const sums = async (at: Date) => {
    const owed = await fixture.database.read((db) => sumPromisedAusd(db, at))
    return { owed, unpaid: await fixture.database.read((db) => sumPromisedFiat(db, at)) }
  }
  const before = await sums(later)
  const id = await fixture.taken()
  await fixture.until(id, 'paid')
  expect(await sums(later)).toEqual(before)
  expect((await sums(since)).unpaid - before.unpaid).toBe(payoutMinor)

  const refused = await fixture.taken({ bank: { accountNumber: '999999' } })
  await fixture.until(refused, 'returning')
  expect((await sums(later)).owed - before.owed).toBe(5_000_000n)
  await fixture.relayed('return', refused)
  expect((await sums(later)).owed).toBe(before.owed)
  expect((await sums(since)).owed - before.owed).toBe(5_000_000n)
})

test('an alert is raised before the rupiah balance runs out, and when it cannot be read', async () => {
  // For a while, a payment counts as later than a reading before which it was made.
  const later = new Date(clock() + 3_600_000)
  await waitUntil('no payment counting any more', async () => {
    const lasting = await fixture.database.read((db) => sumPromisedFiat(db, later))
    return (await unpaidMinor()) === lasting
  })
  const balance = await balanceWith(1_000n)
  const logged: string[] = []
  const write = ({ alarm }: { alarm?: boolean }, msg: string) => void (alarm && logged.push(msg))
  const log = { ...fixture.context.log, error: write, warn: write } as never
  const { database, provider } = fixture.context
  const means = { database, provider, clock, log, readingMaxMs: 300_000, balance }
  const watched = async (balanceLowIdr: bigint) => {
    logged.length = 0
    const settings = { balanceEveryMs: 1_000, balanceLowIdr }
    await watchBalance(means, settings)[Symbol.asyncDispose]()
    return [...logged]
  }
  expect(await watched(1_000n)).toEqual([])
  expect(await watched(1_001n)).toEqual(['provider low on rupiah'])
  time.aheadMs = 301_000
  await fixture.detoured(isSilent, async () => {
    expect(await watched(0n)).toEqual(['provider balance unreadable, cash-outs refused'])
  })
  time.aheadMs = 0
})
