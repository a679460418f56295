import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { booksOf } from '../ledger/test-support'
import { actionsOn, kinds } from '../losses/test-support'
import { openFixture, waitUntil } from '../test-support'
import { reviewsOf } from './test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(fixture.withoutWebhooks)

const { ending, refund, isFrozen } = actionsOn(fixture)
const { topup, atProvider, succeed } = reviewsOf(fixture)
const { booked } = booksOf(fixture)

/** Returns a payment of which a part was refunded and revoked during its hold; after the hold, the refund failed. */
async function cameBack(kind: (typeof kinds)[number][0]): Promise<{ id: string; first: string }> {
  const id = await ending(kind)
  const first = await refund(id, { amount: 10_000 })
  await fixture.list()
  const { leftMicro } = await fixture.becomes(id, { state: 'revoking' })
  await fixture.settle('revoke', `${id}:${leftMicro}`)
  await fixture.becomes(id, { reason: 'refunded_in_part', onchainMicro: leftMicro })
  fixture.chain.hold = { state: 'released', until: Math.floor(fixture.context.clock() / 1_000) - 1 }
  await fixture.recheck(20_000)
  expect((await fixture.row(id))!.holdEndedAt).not.toBeNull()
  await fixture.control(`refunds/${first}/fail`)
  await fixture.list()
  await fixture.becomes(id, { state: 'review', reason: 'refund_undone', refundedMinor: 0n })
  return { id, first }
}

describe.each(kinds)('a %s that gave less than its money is worth', (kind) => {
  const given = kind === 'topup' ? 'credited' : 'repaid'

  // guard: money that came back after its AUSD was revoked can be refunded
  test('has that part refunded by an operator, and is complete', async () => {
    const { id } = await cameBack(kind)
    expect(await booked(id)).toHaveProperty('clawback AUSD')
    expect((await fixture.resolve(id, 'refund')).ok).toMatchObject({
      done: `${id}: refund to the payer ordered: Rp 10,000 as ordered-${id}_1`,
    })
    await fixture.recheck()
    await succeed(id)
    await fixture.list()
    await fixture.becomes(id, { state: given, reason: 'refunded_in_part', refundedMinor: 10_000n })
    expect(await atProvider(id)).toMatchObject([{ amount: 10_000 }])
    expect(await booked(id)).not.toHaveProperty('clawback AUSD')
    expect(await isFrozen(id)).toBe(false)
  })

  test('is decided about again if that refund comes back, too', async () => {
    const { id } = await cameBack(kind)
    await fixture.resolve(id, 'refund')
    await fixture.recheck()
    await succeed(id)
    await fixture.list()
    await fixture.becomes(id, { state: given })
    const [made] = await atProvider(id)
    await fixture.control(`refunds/${made!.id}/fail`)
    await fixture.list()
    await fixture.becomes(id, { state: 'review', reason: 'refund_undone', refundedMinor: 0n })
    expect((await fixture.resolve(id, 'refund')).ok).toHaveProperty('done')
  })

  test('is decided about again if that refund comes back, also if an old row of the first refund was read before', async () => {
    const { id, first } = await cameBack(kind)
    await fixture.resolve(id, 'refund')
    await fixture.recheck()
    const [made] = await atProvider(id)
    const since = new Date(fixture.context.clock() - 600_000)
    const rows = await fixture.listing.list('ID', since)
    const row = rows.find(({ productId }) => productId === first)!
    await fixture.listing.receive('ID', { ...row, status: 'succeeded' })
    await succeed(id)
    await fixture.list()
    await fixture.becomes(id, { state: given, refundedMinor: 10_000n, writtenOffMicro: 0n })
    await fixture.control(`refunds/${made!.id}/fail`)
    await fixture.list()
    await fixture.becomes(id, { state: 'review', reason: 'refund_undone', refundedMinor: 0n })
    expect(await booked(id)).toHaveProperty('clawback AUSD')
  })

  test("is complete if that part is refunded in the provider's dashboard", async () => {
    const { id } = await cameBack(kind)
    await refund(id, { amount: 10_000 })
    await fixture.list()
    await fixture.becomes(id, { state: given, reason: 'refunded_in_part', refundedMinor: 10_000n })
    expect(await booked(id)).not.toHaveProperty('clawback AUSD')
    expect(await isFrozen(id)).toBe(false)
  })

  test('is not credited again', async () => {
    const { id } = await cameBack(kind)
    expect((await fixture.resolve(id, 'credit')).ok).toMatchObject({ refused: 'the payment has already taken effect' })
  })
})

describe('two refunds that we ordered, of which the first was made although it was reported as failed,', () => {
  const rows = () => fixture.listing.list('ID', new Date(fixture.context.clock() - 3_600_000))
  /** Lets the provider make a refund after all that it reported as failed. */
  const makeAfterAll = async (refundId: string) => {
    await fixture.control(`refunds/${refundId}/tell`, { status: 'SUCCEEDED', listed: 'SUCCESS' })
    for (const row of await rows()) if (row.productId === refundId) await fixture.listing.receive('ID', row)
  }
  /** Has a payment refunded twice, and returns its id and that of the first refund, which failed. */
  const refundedAgain = async (payment: string, order: () => Promise<{ ok?: object }>) => {
    expect((await order()).ok).toHaveProperty('done')
    await fixture.recheck()
    const [first] = await atProvider(payment)
    await fixture.control(`refunds/${first!.id}/fail`)
    await fixture.list()
    await waitUntil('the failure', async () => (await fixture.row(payment))!.state !== 'refunding')
    expect((await order()).ok).toHaveProperty('done')
    await fixture.recheck()
    await succeed(payment)
    await fixture.list()
    return first!.id
  }

  // guard: a loss by refunds that we ordered twice is ours
  test('are a loss of ours if the payment was never credited', async () => {
    const id = await topup('QRIS', 40_000)
    await fixture.list()
    await fixture.becomes(id, { state: 'review', reason: 'amount_differs' })
    const first = await refundedAgain(id, () => fixture.resolve(id, 'refund'))
    await fixture.becomes(id, { state: 'refunded', refundedMinor: 40_000n })
    await makeAfterAll(first)
    await fixture.becomes(id, { state: 'refunded', refundedMinor: 80_000n })
    expect(await isFrozen(id)).toBe(false)
    expect(fixture.alarmsOf(id)).toContain('refunded more than was paid, by our own orders')
    expect(await booked(id)).toMatchObject({ 'provider_id IDR': -40_000n })
  })

  test('are a loss of ours if it was credited, and its AUSD came back', async () => {
    const id = await topup('QRIS')
    await fixture.list()
    await fixture.settle('credit', id)
    const { onchainMicro } = await fixture.becomes(id, { state: 'credited' })
    const first = await refundedAgain(id, () => fixture.refundTopup(id, onchainMicro))
    await fixture.becomes(id, { state: 'accepted', refundedMinor: 50_000n })
    await makeAfterAll(first)
    await fixture.becomes(id, { state: 'accepted', refundedMinor: 100_000n })
    expect(await isFrozen(id)).toBe(false)
    await fixture.control(`refunds/${first}/tell`, { status: 'FAILED', listed: 'FAILED' })
    for (const row of await rows()) if (row.productId === first) await fixture.listing.receive('ID', row)
    await fixture.becomes(id, { refundedMinor: 50_000n })
    expect(await booked(id)).toMatchObject({ 'waived AUSD': onchainMicro })
    expect(await isFrozen(id)).toBe(false)
    expect(await fixture.row(id)).toMatchObject({ state: 'accepted', writtenOffMicro: onchainMicro })
  })

  test('are a loss of ours if they were of a second payment', async () => {
    const id = await topup('QRIS')
    await fixture.list()
    await fixture.settle('credit', id)
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS', force: true })
    await fixture.list()
    await fixture.becomes(id, { state: 'review', reason: 'paid_twice' })
    const first = await refundedAgain(id, () => fixture.resolve(id, 'refund'))
    await fixture.becomes(id, { state: 'credited', reason: 'second_refunded', overpaidRefundedMinor: 50_000n })
    await makeAfterAll(first)
    await fixture.becomes(id, { state: 'credited', refundedMinor: 0n, overpaidRefundedMinor: 100_000n })
    expect(await isFrozen(id)).toBe(false)
    expect(fixture.alarmsOf(id)).toContain('refunded more than was paid, by our own orders')
    await fixture.control(`refunds/${first}/tell`, { status: 'FAILED', listed: 'FAILED' })
    for (const row of await rows()) if (row.productId === first) await fixture.listing.receive('ID', row)
    await fixture.becomes(id, { state: 'credited', overpaidRefundedMinor: 50_000n })
    expect(fixture.alarmsOf(id)).not.toContain('refund of a second payment undone, it is owed')
    await booked(id)
  })

  test('are owed by the wallet while a dispute has taken the money as well', async () => {
    const id = await topup('QRIS', 40_000)
    await fixture.list()
    await fixture.becomes(id, { state: 'review', reason: 'amount_differs' })
    const first = await refundedAgain(id, () => fixture.resolve(id, 'refund'))
    await makeAfterAll(first)
    await fixture.becomes(id, { refundedMinor: 80_000n })
    expect(await isFrozen(id)).toBe(false)
    const dispute = await fixture.control(`payments/${id}/chargeback`, { status: 'SUCCESS' })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 120_000n })
    expect(await isFrozen(id)).toBe(true)
    await fixture.control(`chargebacks/${dispute.id}`, { status: 'REVERSED' })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 80_000n })
    expect(await isFrozen(id)).toBe(false)
    await booked(id)
  })
})
