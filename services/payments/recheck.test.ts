import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { leaseDue, lockPayment } from './payment.store'
import { type Fixture, openFixture, wallet } from './test-support'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
}, 60_000)
afterAll(() => fixture?.[Symbol.asyncDispose]())

async function open(): Promise<string> {
  const quoteId = fixture.quote()
  return (await fixture.topup({ wallet, amount: '50000', method: 'qr', quoteId })).ok!.paymentId
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
