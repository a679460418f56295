import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { booksOf } from '../ledger/test-support'
import { actionsOn, kinds } from '../losses/test-support'
import { openFixture } from '../test-support'
import { reviewsOf } from './test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(fixture.withoutWebhooks)

const { ending, refund, isFrozen } = actionsOn(fixture)
const { atProvider, succeed } = reviewsOf(fixture)
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
