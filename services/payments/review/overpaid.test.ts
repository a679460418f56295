import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { booksOf } from '../ledger/test-support'
import { newWallet, openFixture } from '../test-support'

// A settlement is paid with another amount than that of its checkout. The term of its debt goes on while money waits for a
// person, so what repays the debt without doubt is applied at once.

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(fixture.chain, { drawn: '3000000', owedForDay: null, openedAt: null })
  await fixture.control('faults', {})
  await fixture.context.treasury.refresh()
})

const fiatMinor = 48_750n
const pay = async (amount: bigint, channel_code = 'QRIS') => {
  const id = (await fixture.settlement({ wallet: newWallet(), quoteId: fixture.quote() })).ok!.paymentId
  await fixture.control(`sessions/${id}/pay`, { channel_code, amount: Number(amount), force: true })
  return id
}
const { booked } = booksOf(fixture)

describe('a settlement of which one rupiah too much was paid', () => {
  const overpaid = async (channel?: string) => {
    const id = await pay(fiatMinor + 1n, channel)
    await fixture.becomes(id, { state: 'paid', onchainMicro: 3_000_000n, reason: 'overpaid', overpaidMinor: 1n })
    await fixture.settle('repay', id)
    return id
  }

  test('repays the debt at once, and an operator decides about the rupiah', async () => {
    const id = await overpaid('BCA_VIRTUAL_ACCOUNT')
    expect(await fixture.subjects(id)).toEqual(['payments.paid', 'relay.repay', 'payments.review'])
    await fixture.becomes(id, { state: 'review', reason: 'overpaid' })
    expect(fixture.alarmsOf(id)).toEqual(['settlement overpaid', 'payment needs manual review'])
    expect(await booked(id)).toMatchObject({
      'provider_id IDR': 48_751n,
      'suspense IDR': -1n,
      'repaid AUSD': -3_000_000n,
    })
  })

  test('keeps the debt repaid when the operator orders a refund of the rupiah, which QRIS does not do', async () => {
    const id = await overpaid()
    await fixture.becomes(id, { state: 'review' })
    expect((await fixture.resolve(id, 'credit')).ok!.refused).toContain('already taken effect')
    await fixture.resolve(id, 'refund')
    await fixture.recheck()
    const failed = { minor: 1n, isSecond: false, state: 'failed', failureCode: 'PARTIAL_REFUND_NOT_SUPPORTED' }
    expect(await fixture.orderedRefunds(id)).toMatchObject([failed])
    await fixture.becomes(id, { state: 'review', reason: 'overpaid', overpaidMinor: 1n, overpaidRefundedMinor: 0n })
    expect(await booked(id)).toMatchObject({ 'suspense IDR': -1n, 'repaid AUSD': -3_000_000n })
  })

  /** Has an operator refund the rest, which its payer gets. */
  async function restRefunded(): Promise<string> {
    const id = await overpaid('DANA')
    await fixture.becomes(id, { state: 'repaid' })
    await fixture.recheck()
    await fixture.becomes(id, { state: 'review', reason: 'overpaid' })
    await fixture.resolve(id, 'refund')
    await fixture.recheck()
    const [order] = await fixture.orderedRefunds(id)
    expect(order).toMatchObject({ minor: 1n, state: 'open', isSecond: false })
    await fixture.control(`refunds/${order!.refundId}/succeed`)
    return id
  }

  test('ends as repaid once the rest that the operator refunds is with its payer', async () => {
    const id = await restRefunded()
    await fixture.becomes(id, { state: 'repaid', refundedMinor: 0n, overpaidRefundedMinor: 1n, writtenOffMicro: 0n })
    const books = await booked(id)
    expect(books).toMatchObject({ 'provider_id IDR': 48_750n, 'repaid AUSD': -3_000_000n })
    expect(books).not.toHaveProperty(['suspense IDR'])
  })

  test('is a loss of the wallet when a dispute takes the rupiah again that the operator refunded, until it is won', async () => {
    const id = await restRefunded()
    const { wallet } = await fixture.becomes(id, { state: 'repaid', overpaidRefundedMinor: 1n })
    const { id: dispute } = await fixture.control(`payments/${id}/chargeback`, { amount: 1 })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 1n, overpaidRefundedMinor: 1n, writtenOffMicro: 0n })
    const lossOf = async () => (await fixture.reversals()).find(({ paymentId }) => paymentId === id)?.lostMicro
    expect([await lossOf(), (await fixture.walletRow(wallet))?.frozen]).toEqual([62n, true])
    await booked(id)
    await fixture.control(`chargebacks/${dispute}`, { status: 'REVERSED' })
    // A reading of the list is shared for a while.
    fixture.time.aheadMs += 10_000
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 0n, overpaidRefundedMinor: 1n })
    expect([await lossOf(), (await fixture.walletRow(wallet))?.frozen]).toEqual([0n, false])
    await booked(id)
  })

  test('keeps the debt repaid when the operator accepts the rupiah, which becomes ours', async () => {
    const id = await overpaid()
    await fixture.becomes(id, { state: 'review' })
    await fixture.resolve(id, 'accept')
    await fixture.becomes(id, { state: 'accepted' })
    expect(await booked(id)).toMatchObject({ 'capital IDR': -1n, 'repaid AUSD': -3_000_000n })
  })

  test('freezes nothing when the rupiah is refunded in the dashboard', async () => {
    const id = await overpaid()
    await fixture.becomes(id, { state: 'review' })
    await fixture.control(`payments/${id}/refund`, { amount: 1 })
    const row = await fixture.becomes(id, { overpaidRefundedMinor: 1n, refundedMinor: 0n })
    expect(row!.lostHold).toBeNull()
    expect(await fixture.walletRow(row!.wallet)).toBeUndefined()
  })

  test('is a loss of the wallet beyond the rupiah when all of it is refunded', async () => {
    const id = await overpaid()
    await fixture.becomes(id, { state: 'review' })
    await fixture.control(`payments/${id}/refund`)
    const row = await fixture.becomes(id, { overpaidRefundedMinor: 1n, refundedMinor: fiatMinor })
    expect(await fixture.walletRow(row!.wallet)).toMatchObject({ frozen: true })
  })

  test('by card stays on hold first, and reaches the operator when the hold ends', async () => {
    const id = await overpaid('CARDS')
    await fixture.becomes(id, { state: 'repaid', overpaidMinor: 1n })
    expect(await booked(id)).toMatchObject({ 'suspense IDR': -1n, 'repaid_held AUSD': -3_000_000n })
  })
})

describe('a settlement of which too little was paid', () => {
  test('repays as much of the debt as was paid', async () => {
    const id = await pay(fiatMinor - 1n)
    await fixture.becomes(id, { state: 'paid', onchainMicro: 2_999_938n, reason: 'amount_differs', overpaidMinor: 0n })
    await fixture.settle('repay', id)
    await fixture.becomes(id, { state: 'repaid', promisedMicro: 3_000_000n })
    expect(await booked(id)).toMatchObject({ 'provider_id IDR': 48_749n, 'repaid AUSD': -2_999_938n })
    expect(await booked(id)).not.toHaveProperty(['suspense IDR'])
  })
})
