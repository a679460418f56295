import { afterAll, describe, expect, test } from 'bun:test'
import { booksOf } from '../ledger/test-support'
import { newWallet, openFixture } from '../test-support'

// A payment that was paid twice does not rest while nobody has decided about its second charge.

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
const { booked } = booksOf(fixture)

const minor = 50_000n
const open = async (wallet = newWallet()) =>
  (await fixture.topup({ wallet, amount: `${minor}`, method: 'qr', quoteId: fixture.quote() })).ok!.paymentId
const pay = (id: string, more: object = {}) =>
  fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS', force: true, ...more })

/** Returns a wallet that owes for a refunded top-up. */
async function owing() {
  const wallet = newWallet()
  const id = await open(wallet)
  await pay(id)
  await fixture.becomes(id, { state: 'paid' })
  await fixture.settle('credit', id)
  await fixture.control(`payments/${id}/refund`)
  await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
  return wallet
}

/** Returns a top-up that was paid twice after its checkout had ended, while there is no rate, and its first charge. */
async function lateTwice(wallet = newWallet()) {
  const id = await open(wallet)
  await fixture.control(`sessions/${id}/expire`)
  await fixture.becomes(id, { state: 'expired' })
  fixture.present.delete('USD/IDR')
  await pay(id)
  const { providerPaymentId } = (await fixture.becomes(id, { reason: 'awaiting_rate' }))!
  await pay(id)
  await fixture.becomes(id, { state: 'expired', reason: 'awaiting_rate', overpaidMinor: minor })
  return { id, first: providerPaymentId! }
}

const isLeftToOperator = async (id: string) => {
  await fixture.becomes(id, { state: 'review', reason: 'paid_twice', overpaidMinor: minor })
  expect(await booked(id)).toMatchObject({ 'suspense IDR': -minor })
  expect((await fixture.resolve(id, 'refund')).ok).toHaveProperty('done')
  expect(await fixture.orderedRefunds(id)).toMatchObject([{ minor, isSecond: true }])
}

describe('a credited top-up whose first charge was refunded in the dashboard after it was paid twice', () => {
  const refundedFirst = async () => {
    const wallet = newWallet()
    const id = await open(wallet)
    await pay(id)
    const { providerPaymentId } = (await fixture.becomes(id, { state: 'paid' }))!
    await fixture.settle('credit', id)
    await pay(id)
    await fixture.becomes(id, { state: 'review', reason: 'paid_twice' })
    await fixture.control(`payments/${providerPaymentId}/refund`)
    await fixture.becomes(id, { state: 'review', refundedMinor: minor, overpaidRefundedMinor: 0n })
    expect(await fixture.walletRow(wallet)).toMatchObject({ frozen: true })
    return { id, wallet }
  }

  test('keeps the money of the second if an operator accepts it and clears the wallet', async () => {
    const { id, wallet } = await refundedFirst()
    expect((await fixture.resolve(id, 'accept')).ok).toHaveProperty('done')
    expect((await fixture.clear(wallet)).ok!.done).toContain('is no longer frozen')
    const books = await booked(id)
    expect(books).toMatchObject({ 'provider_id IDR': minor, 'collateral AUSD': -3_076_923n })
    expect(books).not.toHaveProperty(['suspense IDR'])
  })

  test('returns the second too if an operator refunds it, and its wallet stays frozen', async () => {
    const { id, wallet } = await refundedFirst()
    expect((await fixture.resolve(id, 'refund')).ok).toHaveProperty('done')
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ minor, isSecond: true }])
    expect(await fixture.walletRow(wallet)).toMatchObject({ frozen: true })
  })
})

describe('the second charge of a top-up is left to an operator', () => {
  // guard: a second payment is left to an operator wherever the first one ends
  test('if the first, late and without a rate, is refunded in the dashboard', async () => {
    const { id, first } = await lateTwice()
    await fixture.control(`payments/${first}/refund`)
    await fixture.becomes(id, { refundedMinor: minor })
    fixture.present.set('USD/IDR', '16250')
    await isLeftToOperator(id)
  })

  test('if all of the first, late and without a rate, covers an earlier loss once there is a rate', async () => {
    const { id } = await lateTwice(await owing())
    fixture.present.set('USD/IDR', '16250')
    await fixture.recheck(700_000)
    await fixture.becomes(id, { onchainMicro: 0n, recoveredMicro: 3_076_923n })
    await isLeftToOperator(id)
  })

  test('if an operator credits the first, and all of it covers an earlier loss', async () => {
    const id = await open(await owing())
    await pay(id, { amount: Number(minor - 1n) })
    await fixture.becomes(id, { state: 'review', reason: 'amount_differs' })
    await pay(id)
    await fixture.becomes(id, { state: 'review', overpaidMinor: minor })
    expect((await fixture.resolve(id, 'credit')).ok).toHaveProperty('done')
    await fixture.becomes(id, { onchainMicro: 0n })
    await isLeftToOperator(id)
  })
})

describe('a top-up whose second charge was refunded', () => {
  const wholeRefund = async (id: string) => {
    expect((await fixture.resolve(id, 'refund')).ok).toHaveProperty('done')
    await fixture.recheck()
    const { refunds } = (await fixture.control('book')) as unknown as {
      refunds: { id: string; reference_id: string | null }[]
    }
    const ours = refunds.find(({ reference_id: reference }) => reference?.startsWith(`ordered-${id}`))!
    await fixture.control(`refunds/${ours.id}/succeed`)
    await fixture.becomes(id, { reason: 'second_refunded', overpaidRefundedMinor: minor })
  }

  test('is credited again once a dispute of the first is won', async () => {
    const id = await open()
    const first = (await pay(id)).payment_id
    await fixture.becomes(id, { state: 'paid' })
    await fixture.settle('credit', id)
    await pay(id)
    await fixture.becomes(id, { state: 'review', reason: 'paid_twice' })
    await wholeRefund(id)
    const { wallet } = (await fixture.row(id))!
    const lost = await fixture.control(`payments/${first}/chargeback`, { status: 'SUCCESS', names: 'payment' })
    await fixture.list()
    await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit', refundedMinor: minor })
    await fixture.control(`chargebacks/${lost.id}`, { status: 'REVERSED' })
    await fixture.list()
    await fixture.becomes(id, { state: 'credited', reason: 'refund_undone', refundedMinor: 0n })
    expect(await fixture.walletRow(wallet)).toMatchObject({ frozen: false })
  })

  test('in the dashboard before the credit was final needs no decision', async () => {
    const id = await open()
    await pay(id)
    await fixture.becomes(id, { state: 'paid' })
    const second = (await pay(id)).payment_id
    await fixture.becomes(id, { overpaidMinor: minor })
    await fixture.control(`payments/${second}/refund`)
    await fixture.list()
    await fixture.becomes(id, { state: 'paid', overpaidRefundedMinor: minor })
    await fixture.settle('credit', id)
    await fixture.becomes(id, { state: 'credited', overpaidRefundedMinor: minor })
    expect(await booked(id)).toMatchObject({ 'provider_id IDR': minor })
  })

  test('before anybody told of it needs no decision', async () => {
    const id = await open()
    await pay(id)
    await fixture.becomes(id, { state: 'paid' })
    await fixture.settle('credit', id)
    await fixture.becomes(id, { state: 'credited' })
    await fixture.control('faults', { webhooks: { only: ['refund.succeeded'] } })
    const second = (await pay(id)).payment_id
    await fixture.control(`payments/${second}/refund`)
    await fixture.becomes(id, { state: 'credited', overpaidMinor: minor, overpaidRefundedMinor: minor })
    await fixture.control('faults', {})
    expect(await booked(id)).toMatchObject({ 'provider_id IDR': minor })
  })
})
