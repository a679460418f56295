import { afterAll, describe, expect, test } from 'bun:test'
import { readWindow } from '#shared/provider/listing'
import { lockPayment, recordPayment } from '../payment.store'
import { newWallet, openFixture, wallet } from '../test-support'
import { leaseDue } from './check.store'
import { recheckOnce } from './recheck'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())

async function open(of: `0x${string}` = wallet): Promise<string> {
  const quoteId = fixture.quote()
  return (await fixture.topup({ wallet: of, amount: '50000', method: 'qr', quoteId })).ok!.paymentId
}

describe('a recheck of payments', () => {
  test('by two instances never takes one payment twice', async () => {
    for (let made = 0; made < 7; made++) await open()
    const now = new Date(Date.now() + 7_200_000)
    const shares = await Promise.all([
      fixture.database.transaction((tx) => leaseDue(tx, now, 'others', 5)),
      fixture.database.transaction((tx) => leaseDue(tx, now, 'others', 5)),
    ])
    const ids = shares.flat().map(({ id }) => id)
    expect(ids.length).toBeGreaterThan(5)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('leaves a payment locked by a webhook to the next round', async () => {
    const id = await open()
    const now = new Date(Date.now() + 7_200_000)
    const lease = () => fixture.database.transaction((tx) => leaseDue(tx, now, 'others', 1_000))
    const whileHeld = await fixture.database.transaction(async (tx) => {
      await lockPayment(tx, id)
      return lease()
    })
    expect(whileHeld.map((row) => row.id)).not.toContain(id)
    expect((await lease()).map((row) => row.id)).toContain(id)
  })
})

describe('an order without a result', () => {
  test('is repeated with a new message id and the same content', async () => {
    const id = await open()
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await fixture.becomes(id, { state: 'paid' })
    await fixture.recheck()
    const orders = (await fixture.orders(id)).filter(({ subject }) => subject === 'relay.credit')
    // On a slow machine the next check becomes due, and the order is resent more than once.
    expect(orders.length).toBeGreaterThan(1)
    expect(new Set(orders.map((order) => order.id)).size).toBe(orders.length)
    for (const { payload } of orders) expect(payload).toEqual(orders[0]!.payload)
  })
})

describe('security: many unpaid checkouts', () => {
  test("of one wallet do not delay another wallet's payment whose webhook was lost", async () => {
    const attacker = newWallet()
    for (let made = 0; made < 90; made++) await open(attacker)
    await fixture.control('faults', { webhooks: { drop: 1 } })
    const id = await open(newWallet())
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await fixture.control('faults', { webhooks: { drop: 0 } })
    // All payments are due, the attacker's for the longest time; a round has few checks.
    fixture.time.aheadMs += 60_000
    const roundsMax = 3
    for (let round = 0; round < roundsMax; round++) await recheckOnce(fixture.context, 8)
    expect((await fixture.row(id))!.state).toBe('paid')
  })

  test('of one wallet do not delay its own payment, ordered on the chain', async () => {
    const of = newWallet()
    const id = await open(of)
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await fixture.becomes(id, { state: 'paid' })
    for (let made = 0; made < 20; made++) await open(of)
    fixture.time.aheadMs += 60_000
    await fixture.database.transaction(async (tx) => {
      const leased = await leaseDue(tx, new Date(fixture.context.clock()), 'others', 200)
      expect(leased.length).toBeGreaterThanOrEqual(20)
    })
    fixture.time.aheadMs += 60_000
    const first = await fixture.database.transaction((tx) =>
      leaseDue(tx, new Date(fixture.context.clock()), 'orders', 8),
    )
    expect(first.map((row) => row.id)).toContain(id)
  })
})

describe('while the list of transactions is read', () => {
  const settings = {
    providerListLatestEveryMs: 1,
    providerListLatestMs: 600_000,
    listEveryMs: 1,
    providerListRecentMs: 1,
    providerListWholeEveryMs: 1,
    providerListWholeMs: 1,
  }
  const readList = () => readWindow(fixture.listing, settings, { account: 'ID', window: 'latest' })
  /** Returns the ids that a round would look up this long after they were opened. */
  const asked = async (afterMs: number, ids: string[], listed: 'ID'[] = ['ID']) => {
    const now = new Date(fixture.context.clock() + afterMs)
    const leased = await fixture.database.transaction((tx) => leaseDue(tx, now, 'others', 1_000, { listed }))
    return ids.filter((id) => leased.some((row) => row.id === id))
  }
  const hourMs = 3_600_000

  test('no checkout is looked up before its end, nor for hours after its expiry', async () => {
    const [unpaid, over] = [await open(newWallet()), await open(newWallet())]
    expect(await asked(10_000, [unpaid, over])).toEqual([])
    expect(await asked(10_000, [unpaid, over], [])).toEqual([unpaid, over])
    expect(await asked(hourMs, [unpaid, over])).toEqual([unpaid, over])
    await fixture.control(`sessions/${over}/expire`)
    await fixture.becomes(over, { state: 'expired' })
    expect(await asked(hourMs, [over])).toEqual([])
    expect(await asked(7 * hourMs, [over])).toEqual([over])
  })

  test('a paid checkout is found without a round and without a webhook', async () => {
    await fixture.control('faults', { webhooks: { drop: 1 } })
    const id = await open(newWallet())
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await readList()
    expect((await fixture.row(id))!).toMatchObject({ state: 'paid', checks: 0 })
    await fixture.control('faults', { webhooks: { drop: 0 } })
  })

  test('a round leaves open checkouts to the list until the list fails', async () => {
    await readList()
    const id = await open(newWallet())
    fixture.time.aheadMs += 10_000
    const round = () => recheckOnce(fixture.context, 1_000)
    const checks = async () => (await fixture.row(id))!.checks
    await round()
    expect(await checks()).toBe(0)
    await recheckOnce({ ...fixture.context, listedWithinMs: 0 }, 1_000)
    expect(await checks()).toBe(1)
  })
})

test('a checkout whose id the provider refuses raises an alarm once, and is not taken for an expired one', async () => {
  const [id, other] = [await open(newWallet()), await open(newWallet())]
  const { checkoutId } = (await fixture.row(id))!
  const named = (to: string | null) => fixture.database.transaction((tx) => recordPayment(tx, id, { checkoutId: to }))
  await named('ps-none of its form')
  const { expiresAt } = (await fixture.row(id))!
  const before = fixture.time.aheadMs
  fixture.time.aheadMs = expiresAt!.getTime() - Date.now() + 60_000
  for (let rounds = 0; rounds < 2; rounds++) {
    await recheckOnce({ ...fixture.context, listedWithinMs: 0 }, 1_000)
    fixture.time.aheadMs += 3_600_000
  }
  const msg = 'provider refused lookup of our object'
  const about = (of: string) => fixture.alarms.filter(({ paymentId }) => paymentId === of)
  expect(about(id)).toMatchObject([{ msg, status: 400, code: expect.stringMatching(/\w/) }])
  expect(about(other)).toEqual([])
  expect((await fixture.row(id))!.state).toBe('awaiting_payment')
  await named(checkoutId)
  fixture.time.aheadMs = before
})

test('a checkout that the provider does not find raises an alarm, and expires an hour after its end', async () => {
  const id = await open(newWallet())
  await fixture.database.transaction((tx) => recordPayment(tx, id, { checkoutId: `ps-${'0'.repeat(24)}` }))
  const round = () => recheckOnce({ ...fixture.context, listedWithinMs: 0 }, 1_000)
  const { expiresAt } = (await fixture.row(id))!
  fixture.time.aheadMs = expiresAt!.getTime() - Date.now() + 60_000
  await round()
  expect(fixture.alarmsOf(id)).toContain('checkout not found at provider')
  expect(await fixture.row(id)).toMatchObject({ state: 'awaiting_payment' })
  fixture.time.aheadMs += 3_600_000
  await round()
  await fixture.becomes(id, { state: 'expired' })
})
