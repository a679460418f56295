import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { ProviderBusy } from '#shared/provider/problem'
import { booksOf } from '../ledger/test-support'
import { payments } from '../payment.table'
import { openFixture, waitUntil } from '../test-support'
import { reviewsOf } from './test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
const { booked } = booksOf(fixture)
const { topup, differing, payTwice, paidTwice, atProvider, succeed } = reviewsOf(fixture)
afterEach(async () => {
  fixture.chain.ref = 'unused'
  await fixture.control('faults', {})
})

const busy = { status: 503, code: 'TEMPORARILY_UNAVAILABLE', meaning: 'try_later', message: '' }

describe('a refund that an operator orders', () => {
  // guard: a refund keeps one idempotency key
  test('is made once, and ends by its webhook', async () => {
    const id = await differing()
    expect((await fixture.resolve(id, 'refund')).ok).toMatchObject({
      done: `${id}: refund to the payer ordered: Rp 40,000 as ordered-${id}_1`,
    })
    await fixture.becomes(id, { state: 'refunding' })
    expect(await booked(id)).toEqual({ 'provider_id IDR': 40_000n, 'suspense IDR': -40_000n })
    await fixture.recheck()
    const key = { reference_id: `ordered-${id}_1`, idempotency_key: `ordered-${id}_1` }
    expect(await atProvider(id)).toMatchObject([{ ...key, amount: 40_000, status: 'PENDING' }])
    await succeed(id)
    await fixture.becomes(id, { state: 'refunded', refundedMinor: 40_000n })
    expect(await booked(id)).toEqual({})
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'succeeded', requests: 1 }])
    await fixture.recheck(700_000)
    expect(await atProvider(id)).toMatchObject([{ replays: 0 }])
  })

  // guard: operators decide about the payment that they were shown
  test('is refused if the payment has changed since operators signed it', async () => {
    const id = await differing()
    const { micro, to, seen } = (await fixture.worthOf('payments.review.resolve', { paymentId: id }))!
    expect({ micro, to }).toEqual({ micro: 3_076_923n, to: (await fixture.row(id))!.wallet })
    const { wallet } = (await fixture.row(id))!
    await fixture.database.run((db) => db.update(payments).set({ updatedAt: new Date() }).where(eq(payments.id, id)))
    const signature = `0x${'1'.repeat(130)}`
    const resolve = (state: string) => {
      const terms = { micro: '3076923', to: wallet, seen: state, until: new Date().toISOString() }
      return fixture.resolve(id, 'refund', 'sari', { approval: { terms, signatures: [{ by: 'sari', signature }] } })
    }
    expect((await resolve(seen)).ok).toMatchObject({ refused: `${id} has just changed: review it again` })
    const now = (await fixture.worthOf('payments.review.resolve', { paymentId: id }))!
    expect((await resolve(now.seen)).ok).toHaveProperty('done')
  })

  test('is refused, not failed, for a rest that comes back after another refund of ours', async () => {
    const id = await differing()
    const made = await fixture.control(`payments/${id}/refund`, { amount: 10_000 })
    await fixture.becomes(id, { refundedMinor: 10_000n })
    await fixture.resolve(id, 'refund')
    await fixture.recheck()
    await succeed(id)
    await fixture.becomes(id, { state: 'refunded', refundedMinor: 40_000n })
    await fixture.control(`refunds/${made.id}/fail`)
    await fixture.list()
    await fixture.becomes(id, { state: 'review', refundedMinor: 30_000n })
    expect((await fixture.resolve(id, 'refund')).ok!.refused).toContain("in the provider's dashboard")
    expect((await fixture.resolve(id, 'credit')).ok).toHaveProperty('done')
  })

  test('ends without a webhook, by a look-up at the provider', async () => {
    const id = await differing()
    await fixture.control('faults', { webhooks: { drop: 1 } })
    await fixture.resolve(id, 'refund')
    await fixture.recheck()
    await succeed(id)
    await fixture.recheck(700_000)
    await fixture.becomes(id, { state: 'refunded' })
  })

  test.each([
    ['a payment', differing, { refundedMinor: 40_000n, overpaidRefundedMinor: 0n }],
    ['a second payment', paidTwice, { refundedMinor: 0n, overpaidRefundedMinor: 50_000n }],
  ])('of %s ends by its row in the list while no refund can be looked up', async (_, make, ended) => {
    const id = await make()
    await fixture.resolve(id, 'refund')
    await fixture.control('faults', { webhooks: { drop: 1 }, api: { hideRefunds: 1 } })
    await fixture.recheck()
    await succeed(id)
    const before = await fixture.anomalies()
    await fixture.list()
    expect(await fixture.row(id)).toMatchObject(ended)
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'succeeded', requests: 1 }])
    expect(await fixture.anomalies()).toEqual(before)
    await fixture.control('faults', {})
    await fixture.list()
    expect(await fixture.row(id)).toMatchObject(ended)
  })

  // guard: a payment in review is decided once
  // together with: unique index payments.refund_orders_once
  test('is ordered once by concurrent operators and by a repeated command', async () => {
    const id = await differing()
    const answers = await Promise.all(['sari', 'dewi', 'budi'].map((by) => fixture.resolve(id, 'refund', by)))
    expect(answers.every(({ ok }) => ok?.done)).toBe(true)
    expect((await fixture.resolve(id, 'refund')).ok!.done).toMatch(/^refund was decided by /)
    expect((await fixture.resolve(id, 'credit')).ok!.refused).toMatch(/^refund was decided by /)
    expect(await fixture.orderedRefunds(id)).toHaveLength(1)
  })

  test.each([
    // guard: a refund is looked up before it is requested again
    ['answered badly', { errorAfterAccept: 1 }],
    ['not answered', { timeoutAfterAccept: 1 }],
  ] as const)('that was made and %s is found, and not requested again', async (_, api) => {
    const id = await differing()
    await fixture.resolve(id, 'refund')
    await fixture.control('faults', { api })
    await fixture.recheck()
    await fixture.control('faults', {})
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'open', requests: 1 }])
    await fixture.recheck(700_000)
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ requests: 1 }])
    expect(await atProvider(id)).toMatchObject([{ replays: 0 }])
    await succeed(id)
    await fixture.becomes(id, { state: 'refunded' })
  })

  test('with an unknown result does not fail because its charge is answered in part', async () => {
    const id = await differing()
    await fixture.resolve(id, 'refund')
    await fixture.control('faults', { api: { timeoutAfterAccept: 1 } })
    await fixture.recheck()
    await fixture.control('faults', {})
    const { provider } = fixture.context
    const findCharge: typeof provider.findCharge = async (...asked) => {
      const found = await provider.findCharge(...asked)
      return found && { ...found, charge: { ...found.charge, paymentRequestId: null } }
    }
    Object.assign(fixture.context, { provider: { ...provider, findCharge } })
    await fixture.recheck(700_000)
    Object.assign(fixture.context, { provider })
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'open', requests: 1 }])
    await succeed(id)
    await fixture.becomes(id, { state: 'refunded' })
  })

  // guard: a refund without a response is not requested again before it would be listed
  test('with an unknown result is not requested again while the provider cannot be read', async () => {
    const id = await differing()
    await fixture.resolve(id, 'refund')
    await fixture.control('faults', { api: { errorAfterAccept: 1, hideRefunds: 1 } })
    for (let round = 0; round < 4; round++) await fixture.recheck(700_000)
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'open', requests: 1 }])
    await fixture.control('faults', {})
    await succeed(id)
    await fixture.becomes(id, { state: 'refunded' })
    expect(await atProvider(id)).toHaveLength(1)
  })

  test.each([
    ['refused for the moment', async () => ({ refused: busy })],
    ['held back by the rate limit', () => Promise.reject(new ProviderBusy('POST /refunds', 1))],
  ])('that was %s is requested again, also while the provider shows none', async (_, createRefund) => {
    const id = await differing()
    await fixture.resolve(id, 'refund')
    await fixture.control('faults', { api: { hideRefunds: 1 } })
    const { provider } = fixture.context
    Object.assign(fixture.context, { provider: { ...provider, createRefund } })
    await fixture.recheck()
    Object.assign(fixture.context, { provider })
    await fixture.recheck(700_000)
    expect(await atProvider(id)).toMatchObject([{ status: 'PENDING', replays: 0 }])
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'open', requests: 1 }])
  })

  test('that had no answer, is not listed and is refused when it is requested again, raises an alarm, and ends by a refund in the dashboard', async () => {
    const id = await differing()
    await fixture.resolve(id, 'refund')
    await fixture.control('faults', { api: { acceptLater: 1, acceptLaterMs: 600_000 } })
    await fixture.recheck()
    expect(fixture.alarmsOf(id)).not.toContain('refund refused, earlier request not found')
    // The list of the older API has no refund of the newer one, which is why the provider refuses another.
    await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
    await fixture.control(`payments/${id}/refund`, { version: 3 })
    await fixture.recheck(700_000)
    const msg = 'refund refused, earlier request not found'
    const raised = fixture.alarms.filter((one) => one.msg === msg && one.paymentId === id)
    expect(raised).toMatchObject([{ reference: `ordered-${id}_1`, code: 'REFUND_AMOUNT_EXCEEDED' }])
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'open' }])
    expect(await fixture.row(id)).toMatchObject({ state: 'refunding' })
    await fixture.control('faults', {})
    await fixture.list()
    await fixture.recheck(700_000)
    // The refund in the dashboard ends it, as the steps of the alarm say.
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'failed', failureCode: 'REFUNDED_MEANWHILE' }])
    expect(await fixture.row(id)).toMatchObject({ state: 'refunded', refundedMinor: 40_000n })
  })

  test('is made although the charge of another refund of its payment cannot be read', async () => {
    const id = await payTwice(40_000)
    await fixture.becomes(id, { state: 'review', overpaidMinor: 40_000n })
    await fixture.resolve(id, 'refund')
    const [first, second] = await fixture.orderedRefunds(id)
    const { provider } = fixture.context
    const findCharge: typeof provider.findCharge = async (account, paymentId) =>
      paymentId === first!.providerPaymentId ? undefined : provider.findCharge(account, paymentId)
    Object.assign(fixture.context, { provider: { ...provider, findCharge } })
    await fixture.recheck()
    Object.assign(fixture.context, { provider })
    expect(await atProvider(id)).toMatchObject([{ reference_id: second!.reference }])
    await fixture.recheck(700_000)
    await succeed(id)
    await fixture.becomes(id, { state: 'refunded', overpaidRefundedMinor: 40_000n })
  })

  test('that certainly was not made is requested again under the same key', async () => {
    const id = await differing()
    await fixture.resolve(id, 'refund')
    await fixture.control('faults', { api: { errorRate: 1 } })
    await fixture.recheck()
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'open', requests: 0 }])
    await fixture.control('faults', {})
    await fixture.recheck(700_000)
    expect(await atProvider(id)).toMatchObject([{ idempotency_key: `ordered-${id}_1` }])
  })

  test('that fails returns the payment to review, and another refund is a new order', async () => {
    const id = await differing()
    await fixture.resolve(id, 'refund')
    await fixture.recheck()
    const [first] = await atProvider(id)
    await fixture.control(`refunds/${first!.id}/fail`)
    await fixture.becomes(id, { state: 'review', reason: 'amount_differs' })
    const alarm = { msg: 'refund failed', paymentId: id, reference: `ordered-${id}_1`, refundId: first!.id }
    await waitUntil('the alarm', () => fixture.alarmsOf(id).includes('refund failed'))
    expect(fixture.alarms.find(({ reference }) => reference === alarm.reference)).toMatchObject(alarm)
    expect(await booked(id)).toEqual({ 'provider_id IDR': 40_000n, 'suspense IDR': -40_000n })
    expect((await fixture.resolve(id, 'refund')).ok!.done).toContain(`ordered-${id}_2`)
    await fixture.recheck()
    await succeed(id)
    await fixture.becomes(id, { state: 'refunded' })
    expect((await fixture.orderedRefunds(id)).map(({ state }) => state)).toEqual(['failed', 'succeeded'])
  })

  test('that the channel does not support is refused by the provider, and no money is returned', async () => {
    const id = await differing('BCA_VIRTUAL_ACCOUNT')
    await fixture.resolve(id, 'refund')
    await fixture.recheck()
    await fixture.becomes(id, { state: 'review', reason: 'amount_differs', refundedMinor: 0n })
    const failed = { state: 'failed', failureCode: 'REFUND_NOT_SUPPORTED' }
    expect(await fixture.orderedRefunds(id)).toMatchObject([failed])
    const alarm = { msg: 'refund refused', paymentId: id, failureCode: 'REFUND_NOT_SUPPORTED' }
    expect(fixture.alarms.find(({ reference }) => reference === `ordered-${id}_1`)).toMatchObject(alarm)
  })

  test('that another operator makes in the dashboard is not made again', async () => {
    const id = await differing()
    await fixture.control('faults', { webhooks: { drop: 1 } })
    await fixture.resolve(id, 'refund')
    await fixture.control(`payments/${id}/refund`)
    await fixture.recheck()
    await fixture.becomes(id, { state: 'refunded', refundedMinor: 40_000n })
    expect(await atProvider(id)).toEqual([])
  })

  test('security: is refused while a dispute is open, because the provider would pay both', async () => {
    for (const id of [await differing('CARDS'), await paidTwice()]) {
      await fixture.list()
      const { providerPaymentId } = (await fixture.row(id))!
      const { payments } = (await fixture.control('book')) as unknown as {
        payments: { payment_id: string; reference_id: string }[]
      }
      const owed = payments.filter(({ reference_id: reference }) => reference.startsWith(id))
      const charge = owed.find((one) => one.payment_id !== providerPaymentId) ?? owed[0]!
      const disputed = { status: 'PENDING', names: 'payment' }
      const dispute = await fixture.control(`payments/${charge.payment_id}/chargeback`, disputed)
      await fixture.list()
      expect((await fixture.resolve(id, 'refund')).ok!.refused).toContain('dispute of it')
      await fixture.control(`chargebacks/${dispute.id}`, { status: 'REVERSED' })
      await fixture.list()
      expect((await fixture.resolve(id, 'refund')).ok!.done).toBeDefined()
    }
  })

  test.each(['PENDING', 'SUCCESS'])('security: is not made if a dispute is %s by then', async (status) => {
    const id = await differing('CARDS')
    await fixture.resolve(id, 'refund')
    await fixture.control(`payments/${id}/chargeback`, { status })
    await fixture.list()
    await fixture.recheck()
    await fixture.becomesEither(id, ['review', 'refunded'])
    expect(await atProvider(id)).toEqual([])
    expect(await fixture.orderedRefunds(id)).toMatchObject([{ state: 'failed' }])
  })

  test('of a second payment leaves the first unchanged', async () => {
    const id = await paidTwice()
    await fixture.resolve(id, 'refund')
    await fixture.recheck()
    await succeed(id)
    const credited = { state: 'credited', reason: 'second_refunded', refundedMinor: 0n }
    await fixture.becomes(id, { ...credited, overpaidRefundedMinor: 50_000n })
    expect(await booked(id)).toMatchObject({ 'collateral AUSD': -3_076_923n })
    expect(await booked(id)).not.toHaveProperty('suspense IDR')
    expect((await fixture.walletRow((await fixture.row(id))!.wallet))?.frozen ?? false).toBe(false)
  })

  test('tells the integrator of another review for another reason', async () => {
    const id = await paidTwice()
    await fixture.resolve(id, 'refund')
    await fixture.recheck()
    await succeed(id)
    const { providerPaymentId } = (await fixture.becomes(id, { state: 'credited' }))!
    await fixture.control(`payments/${providerPaymentId}/refund`)
    await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
    const events = (await fixture.subjects(id)).filter((subject) => subject.startsWith('payments.'))
    expect(events).toEqual(['payments.paid', 'payments.review', 'payments.settled', 'payments.review'])
  })

  test('tells the integrator of another review for the same reason', async () => {
    const id = await differing()
    await fixture.resolve(id, 'refund')
    await fixture.recheck()
    const [refund] = await atProvider(id)
    await fixture.control(`refunds/${refund!.id}/fail`)
    await fixture.becomes(id, { state: 'review', reason: 'amount_differs' })
    expect(await fixture.subjects(id)).toEqual(['payments.review', 'payments.review'])
  })

  test('and that comes back after it succeeded is owed again, and another one can be ordered', async () => {
    for (const id of [await differing(), await paidTwice()]) {
      await fixture.resolve(id, 'refund')
      await fixture.recheck()
      const [first] = await atProvider(id)
      await fixture.control(`refunds/${first!.id}/succeed`)
      await fixture.becomesEither(id, ['refunded', 'credited'])
      await fixture.control(`refunds/${first!.id}/fail`)
      await fixture.becomes(id, { state: 'review' })
      await booked(id)
      expect((await fixture.resolve(id, 'refund')).ok!.done).toContain(`ordered-${id}_2`)
      await fixture.recheck()
      await succeed(id)
      await fixture.becomesEither(id, ['refunded', 'credited'])
    }
  })

  // guard: a payment on the chain is neither credited again nor refunded
  test('is refused while the chain has the effect of the payment', async () => {
    const id = await topup('QRIS')
    await fixture.becomes(id, { state: 'paid' })
    await fixture.settle('credit', id, true)
    await fixture.becomes(id, { state: 'review', reason: 'credit_failed' })
    fixture.chain.ref = 'used'
    expect((await fixture.resolve(id, 'refund')).ok!.refused).toContain('used on the chain')
    fixture.chain.ref = 'unused'
    expect((await fixture.resolve(id, 'refund')).ok!.done).toBeDefined()
    await fixture.recheck()
    await succeed(id)
    await fixture.becomes(id, { state: 'refunded' })
    expect(await booked(id)).toEqual({})
  })
})
