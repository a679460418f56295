import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { leaseDue, lockPayment } from './payment.store'
import { recheckOnce } from './recheck'
import { type Fixture, newWallet, openFixture, wallet } from './test-support'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
}, 60_000)
afterAll(() => fixture?.[Symbol.asyncDispose]())

async function open(of: `0x${string}` = wallet): Promise<string> {
  const quoteId = fixture.quote()
  return (await fixture.topup({ wallet: of, amount: '50000', method: 'qr', quoteId })).ok!.paymentId
}

describe('a recheck', () => {
  test('by two copies never takes one payment twice', async () => {
    for (let made = 0; made < 7; made++) await open()
    const now = new Date(Date.now() + 7_200_000)
    const shares = await Promise.all([
      fixture.database.transaction((tx) => leaseDue(tx, now, 5)),
      fixture.database.transaction((tx) => leaseDue(tx, now, 5)),
    ])
    const ids = shares.flat().map(({ id }) => id)
    expect(ids.length).toBeGreaterThan(5)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('leaves what a delivery holds at that moment to the next round', async () => {
    const id = await open()
    const now = new Date(Date.now() + 7_200_000)
    const lease = () => fixture.database.transaction((tx) => leaseDue(tx, now, 1_000))
    const whileHeld = await fixture.database.transaction(async (tx) => {
      await lockPayment(tx, id)
      return lease()
    })
    expect(whileHeld.map((row) => row.id)).not.toContain(id)
    expect((await lease()).map((row) => row.id)).toContain(id)
  })
})

describe('an order nobody answers', () => {
  test('is repeated under an id of its own, with the same content', async () => {
    const id = await open()
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await fixture.becomes(id, { state: 'paid' })
    await fixture.recheck()
    const orders = (await fixture.orders(id)).filter(({ subject }) => subject === 'relay.credit')
    expect(orders.length).toBe(2)
    expect(orders[1]!.payload).toEqual(orders[0]!.payload)
  })
})

describe('security: many unpaid checkouts', () => {
  test("of one wallet do not keep another's payment waiting whose webhook was lost", async () => {
    const attacker = newWallet()
    for (let made = 0; made < 90; made++) await open(attacker)
    await fixture.control('faults', { webhooks: { drop: 1 } })
    const id = await open(newWallet())
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await fixture.control('faults', { webhooks: { drop: 0 } })
    // Everything is due, the attacker's for the longest time; a round has few checks.
    fixture.time.aheadMs += 60_000
    const roundsMax = 3
    for (let round = 0; round < roundsMax; round++) await recheckOnce(fixture.context, 8)
    expect((await fixture.row(id))!.state).toBe('paid')
  })

  test('of one wallet do not keep its own money waiting, which is ordered on the chain', async () => {
    const of = newWallet()
    const id = await open(of)
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await fixture.becomes(id, { state: 'paid' })
    for (let made = 0; made < 20; made++) await open(of)
    fixture.time.aheadMs += 60_000
    await fixture.database.transaction(async (tx) => {
      const leased = await leaseDue(tx, new Date(fixture.context.clock()), 200)
      expect(leased.length).toBeGreaterThan(20)
    })
    fixture.time.aheadMs += 60_000
    const first = await fixture.database.transaction((tx) =>
      leaseDue(tx, new Date(fixture.context.clock()), 8),
    )
    expect(first.map((row) => row.id)).toContain(id)
  })
})
