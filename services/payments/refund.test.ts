import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Fixture, newWallet, openFixture } from './test-support'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const webhooks = (fault: object) => fixture.control('faults', { webhooks: fault })
const refund = (id: string, body: object = {}) => fixture.control(`payments/${id}/refund`, body)

async function paid(channel_code: string, wallet = newWallet()): Promise<string> {
  const quoteId = fixture.quote()
  const { ok } = await fixture.topup({ wallet, amount: '50000', method: 'qr', quoteId })
  const id = ok!.paymentId
  await fixture.control(`sessions/${id}/pay`, { channel_code, force: true })
  return id
}
async function onChain(channel_code: string): Promise<string> {
  const id = await paid(channel_code)
  await fixture.becomes(id, { state: 'paid' })
  await fixture.settle('credit', id)
  return id
}

describe('a refund', () => {
  test('during the hold revokes the top-up, once', async () => {
    const id = await onChain('CARDS')
    await webhooks({ times: 3, newIds: true })
    await refund(id)
    await fixture.becomes(id, { state: 'revoking', refundedMinor: 50_000n })
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'revoked', reason: 'refunded_during_hold' })
    expect(
      (await fixture.subjects(id)).filter((subject) => subject === 'relay.revoke').length,
    ).toBe(1)
    await webhooks({ times: 1, newIds: false })
  })

  test('of a part during the hold takes all of it back and credits the rest under its own ref', async () => {
    const id = await onChain('CARDS')
    await refund(id, { amount: 20_000 })
    await fixture.becomes(id, { state: 'revoking' })
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'paid', reason: 'refunded_in_part', part: 1 })
    const orders = (await fixture.orders(id)).filter(({ subject }) => subject === 'relay.credit')
    expect(orders.map(({ payload }) => payload)).toMatchObject([
      { refId: id, ausd: '3076923', held: true },
      { refId: `${id}.1`, ausd: '1846153', held: true },
    ])
    // Told again about the part that was taken back: that says nothing of the rest.
    await fixture.settle('credit', id)
    await fixture.becomes(id, { state: 'paid', creditedAt: null })
    await fixture.settle('credit', `${id}.1`)
    await fixture.becomes(id, { state: 'held', liveMicro: 1_846_153n })
  })

  test('that comes too late to revoke waits for a person', async () => {
    const id = await onChain('CARDS')
    await refund(id)
    await fixture.becomes(id, { state: 'revoking' })
    await fixture.settle('revoke', id, true)
    await fixture.becomes(id, { state: 'review', reason: 'revoke_failed' })
  })

  test('after the credit waits for a person', async () => {
    const id = await onChain('QRIS')
    await refund(id)
    await fixture.becomes(id, {
      state: 'review',
      reason: 'refunded_after_credit',
      refundedMinor: 50_000n,
    })
  })

  test.each([
    ['CARDS', 'revoking'],
    ['QRIS', 'review'],
  ] as const)(
    'while the credit by %s is under way is seen to when that ends',
    async (channel, end) => {
      const id = await paid(channel)
      await fixture.becomes(id, { state: 'paid' })
      await refund(id)
      await fixture.becomes(id, { state: 'paid', refundedMinor: 50_000n })
      await fixture.settle('credit', id)
      await fixture.becomes(id, { state: end })
    },
  )

  test('told before the payment itself: nothing is credited', async () => {
    await webhooks({ only: ['refund.succeeded'] })
    const id = await paid('CARDS')
    await refund(id)
    await fixture.becomes(id, { state: 'refunded', reason: 'refunded_before_credit' })
    expect(await fixture.subjects(id)).toEqual([])
    await webhooks({ only: [] })
  })

  test('during the hold that nobody told is found by a recheck', async () => {
    const id = await onChain('CARDS')
    await webhooks({ drop: 1 })
    await refund(id)
    await webhooks({ drop: 0 })
    await fixture.recheck()
    expect(await fixture.row(id)).toMatchObject({ state: 'revoking', refundedMinor: 50_000n })
  })

  test('that failed changes nothing', async () => {
    const id = await onChain('CARDS')
    await refund(id, { failure_code: 'REFUND_FAILED' })
    const [row] = [await fixture.row(id)]
    expect(row).toMatchObject({ state: 'held', refundedMinor: 0n })
  })
})
