import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { midnightInJakarta } from '#platform/db/columns'
import { type Fixture, openFixture, unlimited } from '../test-support'
import { openBalance } from '../treasury/balance'
import { sumPromisedAusd, sumPromisedFiat } from '../treasury/promise.store'
import { openDetailsSafe } from './bank'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ recheckAfterMs: 60_000 })
})
afterEach(() => Object.assign(fixture.chain, unlimited))
afterAll(() => fixture?.[Symbol.asyncDispose]())

/** 5 AUSD at the fixture's rate. */
const payoutMinor = 81_250n
const payoutMicro = 5_000_000n

let wallets = 0
const from = () => `0xcc${String(++wallets).padStart(38, '0')}`
const asked = (accountNumber: string, value = payoutMicro) => {
  const wallet = from()
  return fixture.request({ wallet, authorization: { from: wallet, value: String(value) }, bank: { accountNumber } })
}
/** Asks at a rate below the reference, as only quotes of a closed market have. */
const askedClosed = (value = payoutMicro) => ({
  ...asked(`77${String(++accounts).padStart(8, '0')}`, value),
  quoteId: fixture.quote('USD/IDR', '16168', -50),
})
let accounts = 0
/** Makes the cash-outs ones that were asked for in the last minute of yesterday in Jakarta. */
const askedYesterday = (ids: readonly string[]) =>
  fixture.database.run((db) =>
    db.execute(sql`update payouts.payouts set created_at = ${midnightInJakarta} - interval '1 minute'
      where id in ${ids}`),
  )
const take = async (ids: readonly string[]) => {
  for (const id of ids) await fixture.relayed('take', id)
  const rows = await Promise.all(ids.map((id) => fixture.row(id)))
  return rows.map(({ state, reason }) => (state === 'returning' ? reason : 'taken'))
}
const promised = async () => {
  const since = new Date(fixture.context.clock() + 3_600_000)
  return {
    fiat: await fixture.database.read((db) => sumPromisedFiat(db, since)),
    ausd: await fixture.database.read((db) => sumPromisedAusd(db, since)),
  }
}
async function balanceFor(count: bigint) {
  const { fiat } = await promised()
  await fixture.control('balance', { amount: Number(fiat + count * payoutMinor) })
  const { database, provider, clock, log } = fixture.context
  const balance = openBalance({ database, provider, clock, log, readingMaxMs: 300_000 })
  await balance.refresh()
  return balance
}
const byContract = () => Object.assign(fixture.chain, { byContract: true })
const byKey = () => Object.assign(fixture.chain, { byContract: false })

describe('security: a cash-out whose transfer only code of its wallet accepts', () => {
  test('sets neither rupiah nor treasury AUSD aside until its AUSD has arrived', async () => {
    const balance = await balanceFor(1n)
    const before = await promised()
    byContract()
    const answer = await fixture.create(asked('5550000001'), { balance })
    expect(answer).toHaveProperty('ok')
    expect(await promised()).toEqual(before)
    byKey()
    expect(await fixture.create(asked('5550000002'), { balance })).toHaveProperty('ok')
    const counted = await promised()
    await fixture.relayed('take', answer.ok!.payoutId)
    expect(await promised()).toEqual({ fiat: counted.fiat + payoutMinor, ausd: counted.ausd + payoutMicro })
  })

  test("does not use up the day's limit of a bank account, which may be another person's", async () => {
    const dayMicroMax = 2n * payoutMicro
    const balance = await balanceFor(1_000n)
    const account = '5550000003'
    byContract()
    for (let count = 0; count < 3; count++)
      expect(await fixture.create(asked(account, 2n * payoutMicro), { dayMicroMax, balance })).toHaveProperty('ok')
    byKey()
    expect(await fixture.create(asked(account, 2n * payoutMicro), { dayMicroMax, balance })).toHaveProperty('ok')
  })

  // guard: a bank account's cash-outs of contract wallets are counted when their AUSD arrives
  test('gets its AUSD back if its bank account has reached its limit when the AUSD arrives', async () => {
    const value = 60_000_000_000n
    const balance = await balanceFor(1_000_000n)
    const account = '5550000004'
    byContract()
    const answers = [
      await fixture.create(asked(account, value), { balance }),
      await fixture.create(asked(account, value), { balance }),
    ]
    const [first, second] = answers.map(({ ok }) => ok!.payoutId)
    await fixture.relayed('take', first!)
    await fixture.relayed('take', second!)
    expect(await fixture.row(first!)).not.toMatchObject({ state: 'returning' })
    expect(await fixture.row(second!)).toMatchObject({ state: 'returning', reason: 'account_limit' })
    expect(await fixture.sent(second!)).toContain('relay.return')
  })

  test('counts for its bank account on the day on which it was asked for, also if its AUSD arrives after midnight', async () => {
    const value = 60_000_000_000n
    const balance = await balanceFor(1_000_000n)
    byContract()
    const ids: string[] = []
    for (let count = 0; count < 3; count++)
      ids.push((await fixture.create(asked('5550000006', value), { balance })).ok!.payoutId)
    await askedYesterday(ids)
    expect(await take(ids)).toEqual(['taken', 'account_limit', 'account_limit'])
  })

  test('counts for its bank account also if the key of bank details has been rotated since', async () => {
    const value = 60_000_000_000n
    const before = fixture.context.safe
    const balance = await balanceFor(1_000_000n)
    const keys = [1, 2].map((fill) => ({ id: `k${fill}`, key: Buffer.alloc(32, fill) }))
    byContract()
    Object.assign(fixture.context, { safe: openDetailsSafe([keys[0]!]) })
    const [first, second] = [
      (await fixture.create(asked('5550000007', value), { balance })).ok!.payoutId,
      (await fixture.create(asked('5550000007', value), { balance })).ok!.payoutId,
    ]
    expect(await take([first])).toEqual(['taken'])
    Object.assign(fixture.context, { safe: openDetailsSafe([keys[1]!, keys[0]!]) })
    const third = (await fixture.create(asked('5550000007', 30_000_000_000n), { balance })).ok!.payoutId
    expect(await take([third, second])).toEqual(['taken', 'account_limit'])
    const fourth = (await fixture.create(asked('5550000007', 10_000_000_000n), { balance })).ok!.payoutId
    const fifth = (await fixture.create(asked('5550000007', 10_000_000_000n), { balance })).ok!.payoutId
    expect(await take([fourth, fifth])).toEqual(['taken', 'account_limit'])
    Object.assign(fixture.context, { safe: before })
  })

  // guard: AUSD above a limit is returned only after its payout was looked for
  test.each([
    ['paid', '1234567890', 'taken'],
    ['refused', '999999', 'returning'],
  ] as const)(
    'gets its AUSD back only if no bank was paid: restored from a backup, and %s since',
    async (_, accountNumber, state) => {
      const balance = await balanceFor(1_000_000n)
      byContract()
      const id = (await fixture.create(asked(accountNumber), { balance })).ok!.payoutId
      await fixture.relayed('take', id)
      await fixture.due(id)
      await fixture.until(id, state === 'taken' ? 'paid' : 'returning')
      const returns = await fixture.orders(id, 'relay.return')
      await fixture.putBack(id, 'taking')
      const before = { dayMicroMax: fixture.context.dayMicroMax }
      Object.assign(fixture.context, { dayMicroMax: payoutMicro - 1n })
      await fixture.relayed('take', id)
      Object.assign(fixture.context, before)
      expect((await fixture.row(id)).state === 'returning').toBe(state === 'returning')
      if (state === 'returning') return
      expect(await fixture.orders(id, 'relay.return')).toEqual(returns)
      await fixture.due(id)
      await fixture.until(id, 'paid')
      expect(await fixture.transfers(id)).toHaveLength(1)
    },
  )

  describe('while the market of the rupiah is closed', () => {
    const closedMicroMax = { ofAll: 2n * payoutMicro, ofWallet: 2n * payoutMicro }
    beforeEach(async () => {
      // The sums are of the whole table, so earlier cash-outs become ones of an open market.
      await fixture.database.run((db) => db.execute('update payouts.payouts set spread_bps = 0 where spread_bps < 0'))
      Object.assign(fixture.context, { closedMicroMax, balance: await balanceFor(1_000_000n) })
    })
    const create = async (count: number) => {
      const answers = []
      for (let at = 0; at < count; at++) answers.push(await fixture.create(askedClosed()))
      return answers.map(({ ok }) => ok!.payoutId)
    }

    test('does not use up the limit of all cash-outs until its AUSD has arrived', async () => {
      byContract()
      const ids = await create(3)
      byKey()
      const [other] = await create(1)
      byContract()
      expect(await take([ids[0]!])).toEqual(['taken'])
      byKey()
      expect(await fixture.create(askedClosed())).toEqual({ refused: 'cashout_rate_unavailable' })
      expect(await take([other!])).toEqual(['taken'])
    })

    test('counts for the limit of its own wallet at once', async () => {
      byContract()
      const wallet = from()
      const own = () => {
        const one = askedClosed(2n * payoutMicro)
        return { ...one, wallet, authorization: { ...one.authorization, from: wallet } }
      }
      expect(await fixture.create(own())).toHaveProperty('ok')
      expect(await fixture.create(own())).toEqual({ refused: 'cashout_rate_unavailable' })
    })

    // guard: cash-outs of contract wallets while the market is closed are counted when their AUSD arrives
    test('gets its AUSD back if all cash-outs have reached their limit when the AUSD arrives', async () => {
      byContract()
      const ids = await create(3)
      expect(await take(ids)).toEqual(['taken', 'taken', 'closed_market_limit'])
      expect(await fixture.sent(ids[2]!)).toContain('relay.return')
    })

    test('gets its AUSD back above the limit of the day on which it was asked for, after midnight too', async () => {
      byContract()
      const ids = await create(4)
      await askedYesterday(ids)
      expect(await take(ids)).toEqual(['taken', 'taken', 'closed_market_limit', 'closed_market_limit'])
      byKey()
      expect(await fixture.create(askedClosed())).toHaveProperty('ok')
    })
  })

  describe('while all wallets together have a limit of a day', () => {
    beforeEach(async () => {
      // The sum is of the whole table, so earlier cash-outs become ones of the day before yesterday.
      await fixture.database.run((db) =>
        db.execute(sql`update payouts.payouts set created_at = created_at - interval '2 days'`),
      )
      Object.assign(fixture.context, { allDayMicroMax: 2n * payoutMicro, balance: await balanceFor(1_000_000n) })
    })
    afterAll(() => Object.assign(fixture.context, { allDayMicroMax: null }))
    let own = 0
    const create = () => fixture.create(asked(`66${String(++own).padStart(8, '0')}`))
    const createMany = async (count: number) => {
      const ids: string[] = []
      for (let at = 0; at < count; at++) ids.push((await create()).ok!.payoutId)
      return ids
    }

    test('does not use up the limit of all cash-outs of a day until its AUSD has arrived', async () => {
      byContract()
      const ids = await createMany(3)
      byKey()
      const [other] = await createMany(1)
      expect(await take([ids[0]!])).toEqual(['taken'])
      expect(await create()).toEqual({ refused: 'day_limit_of_all_reached' })
      expect(await take([other!])).toEqual(['taken'])
    })

    // guard: cash-outs of contract wallets count for the limit of all wallets when their AUSD arrives
    test('gets its AUSD back if all wallets have reached the limit of the day when the AUSD arrives', async () => {
      byContract()
      const ids = await createMany(3)
      expect(await take(ids)).toEqual(['taken', 'taken', 'limit_of_all'])
      expect(await fixture.sent(ids[2]!)).toContain('relay.return')
    })

    test('is held to the limit of all wallets also without the mark of its bank account, as after an erasure and a restore', async () => {
      byContract()
      const ids = await createMany(3)
      await fixture.database.run((db) =>
        db.execute(sql`update payouts.payouts set account_mark = null where id in ${ids}`),
      )
      expect(await take(ids)).toEqual(['taken', 'taken', 'limit_of_all'])
    })

    test('counts for no limit while its AUSD goes back, because it arrived above the limit or after the cash-out failed', async () => {
      byContract()
      const [first, late] = (await createMany(2)) as [string, string]
      const above = (await fixture.create(asked('6600000999', 2n * payoutMicro))).ok!.payoutId
      await fixture.relayed('take', late, 'balance_too_low')
      expect(await take([first, above, late])).toEqual(['taken', 'limit_of_all', 'taken_late'])
      byKey()
      expect(await create()).toHaveProperty('ok')
      expect(await create()).toEqual({ refused: 'day_limit_of_all_reached' })
    })

    test('counts for all wallets on the day on which it was asked for, also if its AUSD arrives after midnight', async () => {
      byContract()
      const ids = await createMany(3)
      await askedYesterday(ids)
      expect(await take(ids)).toEqual(['taken', 'taken', 'limit_of_all'])
      byKey()
      expect(await createMany(2)).toHaveLength(2)
    })
  })

  test('is marked by what the relayer says about its signature', async () => {
    byContract()
    const answer = await fixture.create(asked('5550000005'), { balance: await balanceFor(1_000_000n) })
    expect(await fixture.row(answer.ok!.payoutId)).toMatchObject({ signedByContract: true })
  })
})
