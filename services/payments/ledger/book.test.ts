import { afterAll, expect, test } from 'bun:test'
import { newWallet, openFixture } from '../test-support'
import { booksOf } from './test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())

const { booked } = booksOf(fixture)

test.each([
  ['QRIS', 'credited', { 'collateral AUSD': -3_076_923n, 'treasury AUSD': -3_076_923n }],
  ['CARDS', 'held', { 'collateral_held AUSD': -3_076_923n, 'provider_id IDR': 50_000n }],
] as const)('the books follow the row of a top-up by %s at every step', async (channel_code, state, lines) => {
  const asked = { wallet: newWallet(), amount: '50000', method: 'qr', quoteId: fixture.quote() }
  const id = (await fixture.topup(asked)).ok!.paymentId
  expect(await booked(id)).toEqual({})
  await fixture.control(`sessions/${id}/pay`, { channel_code, force: true })
  await fixture.becomes(id, { state: 'paid' })
  expect(await booked(id)).toMatchObject({ 'promises AUSD': -3_076_923n })
  await fixture.settle('credit', id)
  await fixture.becomes(id, { state })
  expect(await booked(id)).toMatchObject(lines)
  await fixture.control(`payments/${id}/refund`, {})
  if (state === 'held') {
    await fixture.becomes(id, { state: 'revoking' })
    expect(await booked(id)).toMatchObject({ 'clawback AUSD': 3_076_923n })
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'revoked' })
    expect(await booked(id)).toEqual({})
  } else {
    await fixture.becomes(id, { state: 'review' })
    expect(await booked(id)).toMatchObject({ 'clawback AUSD': 3_076_923n })
  }
})

test("the row, the provider's record and the books have the spread of a quote", async () => {
  const quoteId = fixture.quote('USD/MYR', '424', 50)
  const asked = { wallet: newWallet(), amount: '42400', method: 'qr', quoteId }
  const id = (await fixture.topup(asked)).ok!.paymentId
  expect(await fixture.row(id)).toMatchObject({ spreadBps: 50, ausdMicro: 100_000_000n })
  const sessions = (await fixture.control('book')).sessions! as Record<string, unknown>[]
  const promised = { rate: '424', spread: '50' }
  expect(sessions.find(({ reference_id }) => reference_id === id)).toMatchObject({
    metadata: promised,
  })
  await fixture.control(`sessions/${id}/pay`, { force: true })
  await fixture.becomes(id, { state: 'paid' })
  const spread = { 'exchange AUSD': 100_500_000n, 'spread AUSD': -500_000n }
  expect(await booked(id)).toMatchObject(spread)
  await fixture.settle('credit', id)
  await fixture.control(`payments/${id}/refund`, { amount: 212 })
  await fixture.becomes(id, { refundedMinor: 21_200n })
  expect(await booked(id)).toMatchObject({ 'spread AUSD': -250_000n })
})

test('late money without a rate stays in suspense until there is a rate', async () => {
  const asked = { wallet: newWallet(), amount: '50000', method: 'qr', quoteId: fixture.quote() }
  const id = (await fixture.topup(asked)).ok!.paymentId
  await fixture.control(`sessions/${id}/expire`)
  await fixture.becomes(id, { state: 'expired' })
  fixture.present.delete('USD/IDR')
  await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS', force: true })
  await fixture.becomes(id, { reason: 'awaiting_rate' })
  expect(await booked(id)).toEqual({ 'provider_id IDR': 50_000n, 'suspense IDR': -50_000n })
  fixture.present.set('USD/IDR', '16900')
  await fixture.recheck(700_000)
  await fixture.becomes(id, { state: 'paid' })
  expect(await booked(id)).toMatchObject({ 'promises AUSD': -2_958_579n, 'exchange IDR': -50_000n })
  fixture.present.set('USD/IDR', '16250')
})

test('the end of a hold makes a repayment final in the row and in the books', async () => {
  fixture.chain.drawn = '3000000'
  const asked = { wallet: newWallet(), quoteId: fixture.quote() }
  const id = (await fixture.settlement(asked)).ok!.paymentId
  await fixture.control(`sessions/${id}/pay`, { channel_code: 'CARDS', force: true })
  await fixture.becomes(id, { state: 'paid' })
  await fixture.settle('repay', id)
  await fixture.becomes(id, { state: 'repaid' })
  expect(await booked(id)).toMatchObject({ 'repaid_held AUSD': -3_000_000n })
  const until = Math.floor(fixture.context.clock() / 1_000) - 1
  fixture.chain.hold = { state: 'released', until }
  await fixture.recheck()
  expect((await fixture.row(id))!.holdEndedAt).not.toBeNull()
  expect(await booked(id)).toMatchObject({ 'repaid AUSD': -3_000_000n })
})
