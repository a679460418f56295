import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Fixture, openFixture, unlimited } from '../test-support'
import { openBalance } from '../treasury/balance'
import { sumPromisedAusd, sumPromisedFiat } from '../treasury/promise.store'

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

  test('is marked by what the relayer says about its signature', async () => {
    byContract()
    const answer = await fixture.create(asked('5550000005'), { balance: await balanceFor(1_000_000n) })
    expect(await fixture.row(answer.ok!.payoutId)).toMatchObject({ signedByContract: true })
  })
})
