import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { booksOf } from '../ledger/test-support'
import { openFixture } from '../test-support'
import { reviewsOf } from './test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
const { booked } = booksOf(fixture)
const { topup, differing, paidTwice } = reviewsOf(fixture)
afterEach(async () => {
  fixture.chain.ref = 'unused'
  await fixture.control('faults', {})
})

describe('a payment in review that an operator credits', () => {
  test('counts for the paid amount, at the rate of its quote', async () => {
    const id = await differing('QRIS')
    expect((await fixture.resolve(id, 'credit')).ok!.done).toContain('2.461538 AUSD')
    await fixture.becomes(id, { state: 'paid', fiatMinor: 40_000n, promisedMicro: 3_076_923n })
    expect(await booked(id)).toMatchObject({ 'promises AUSD': -2_461_538n })
    await fixture.settle('credit', id)
    await fixture.becomes(id, { state: 'credited', reason: null })
    expect(await booked(id)).toMatchObject({ 'collateral AUSD': -2_461_538n })
    expect((await fixture.resolve(id, 'credit')).ok!.done).toMatch(/^credit was decided by sari/)
  })

  test('security: is not credited after a refund in the dashboard that no webhook reported', async () => {
    const id = await differing('QRIS')
    await fixture.control('faults', { webhooks: { drop: 1 } })
    const refund = await fixture.control(`payments/${id}/refund`)
    await fixture.control(`refunds/${refund.id}/succeed`).catch(() => {})
    expect((await fixture.resolve(id, 'credit')).ok!.refused).toContain('has just changed')
    expect((await fixture.resolve(id, 'credit')).ok!.refused).toContain('nothing is left')
    expect(await fixture.subjects(id)).not.toContain('relay.credit')
  })

  test('is not credited while the provider cannot be read', async () => {
    const id = await differing('QRIS')
    await fixture.control('faults', { api: { errorRate: 1 } })
    expect((await fixture.resolve(id, 'credit')).ok!.refused).toContain('cannot be read')
    await fixture.control('faults', {})
    expect((await fixture.resolve(id, 'credit')).ok).toHaveProperty('done')
  })

  test('is ordered under a new ref if the chain has never used the first', async () => {
    const id = await topup('QRIS')
    await fixture.becomes(id, { state: 'paid' })
    await fixture.settle('credit', id, true)
    await fixture.becomes(id, { state: 'review', reason: 'credit_failed' })
    for (const state of ['ordered', 'used'] as const) {
      fixture.chain.ref = state
      const { refused } = (await fixture.resolve(id, 'credit')).ok!
      expect(refused).toBe(`ref ${id} is ${state} on the chain`)
    }
    fixture.chain.ref = 'unused'
    expect((await fixture.resolve(id, 'credit')).ok!.done).toContain(`${id}.1`)
    const credits = (await fixture.orders(id)).filter(({ subject }) => subject === 'relay.credit')
    expect(credits.map(({ payload }) => payload)).toMatchObject([
      { refId: id, ausd: '3076923' },
      { refId: `${id}.1`, ausd: '3076923' },
    ])
    await fixture.settle('credit', id, true) // The relayer repeats a result for the old ref.
    await fixture.settle('credit', `${id}.1`)
    await fixture.becomes(id, { state: 'credited' })
  })

  test('is refused after the payment has taken effect', async () => {
    const id = await paidTwice()
    expect((await fixture.resolve(id, 'credit')).ok!.refused).toContain('has already taken effect')
  })
})

describe('a payment in review that an operator accepts', () => {
  test('leaves review, and its money is ours', async () => {
    const id = await differing()
    expect((await fixture.resolve(id, 'accept')).ok!.done).toBeDefined()
    await fixture.becomes(id, { state: 'accepted' })
    expect(await booked(id)).toEqual({ 'provider_id IDR': 40_000n, 'capital IDR': -40_000n })
    expect((await fixture.resolve(id, 'accept')).ok!.done).toContain('was decided by sari')
  })

  test('is owed nothing that could not be put on the chain', async () => {
    const id = await topup('QRIS')
    await fixture.becomes(id, { state: 'paid' })
    await fixture.settle('credit', id, true)
    await fixture.becomes(id, { state: 'review' })
    await fixture.resolve(id, 'accept')
    expect(await booked(id)).toEqual({ 'provider_id IDR': 50_000n, 'capital IDR': -50_000n })
  })
})

test('an operator cannot decide about a payment that is not in review', async () => {
  const id = await topup('QRIS')
  await fixture.becomes(id, { state: 'paid' })
  expect((await fixture.resolve(id, 'refund')).ok!.refused).toBe(`${id} is paid, not in review`)
  await fixture.settle('credit', id)
  await fixture.becomes(id, { state: 'credited' })
  expect((await fixture.resolve(id, 'refund')).ok!.refused).toBe(
    `${id} is credited, not in review: topups show says how it can be given back`,
  )
  const nobody = (await fixture.resolve('pay_none', 'accept')).ok!
  expect(nobody.refused).toBe('there is no payment pay_none')
})

test('one of two different concurrent decisions is taken', async () => {
  const id = await differing()
  const [first, second] = await Promise.all([
    fixture.resolve(id, 'accept', 'sari'),
    fixture.resolve(id, 'refund', 'dewi'),
  ])
  const words = [first.ok!, second.ok!]
  expect(words.filter(({ done }) => done)).toHaveLength(1)
  expect((await fixture.row(id))!.state).not.toBe('review')
})
