import { afterAll, describe, expect, test } from 'bun:test'
import { openFixture, wallet } from '../test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())

describe('a webhook that contradicts the provider', () => {
  const deliver = (event: string, data: object, deliveryId = crypto.randomUUID()) =>
    fixture.deliver('ID', JSON.stringify({ event, data }), deliveryId)

  test("security: with a session that names another user's payment changes neither payment", async () => {
    const quotes = [fixture.quote(), fixture.quote()]
    const ids: string[] = []
    for (const quoteId of quotes) {
      const answer = await fixture.topup({ wallet, amount: '50000', method: 'qr', quoteId })
      ids.push(answer.ok!.paymentId)
    }
    const [mine, other] = ids as [string, string]
    await fixture.control('faults', { webhooks: { drop: 1 } })
    const payment = await fixture.control(`sessions/${other}/pay`, { channel_code: 'QRIS' })
    await fixture.control('faults', { webhooks: { drop: 0 } })
    const { checkoutId } = (await fixture.row(mine))!
    const data = {
      payment_session_id: checkoutId,
      payment_id: payment.payment_id,
      status: 'COMPLETED',
    }
    expect(await deliver('payment_session.completed', data)).toBe('done')
    expect(await fixture.row(mine)).toMatchObject({ state: 'awaiting_payment' })
    expect(await deliver('payment.capture', { ...data, reference_id: mine })).toBe('done')
    expect(await fixture.row(mine)).toMatchObject({ state: 'awaiting_payment' })
    expect(await fixture.row(other)).toMatchObject({ state: 'paid' })
  })

  test.each([
    ['with an unknown event', 'payment_sesion.compleeted', {}, 'event_unknown'],
    ['with an unknown payment', 'payment.capture', { payment_id: 'py-0' }, 'object_unknown'],
    ['of the dashboard', 'payment_session.completed', { id: 'ps-2020' }, 'object_unknown'],
    ['with an unknown event again, of another object', 'payment_sesion.compleeted', { id: 'ps-2' }, 'event_unknown'],
    ['with an unknown event a third time, without an id', 'payment_sesion.compleeted', {}, 'event_unknown'],
    ['with a path for an id', 'payment.capture', { payment_id: '../v2/payouts' }, 'event_unknown'],
    ['with an unknown dispute', 'dispute.lost', { id: 'mi-dspt-0' }, 'object_unknown'],
    ['with an unknown refund', 'refund.succeeded', { id: 'rfd-0' }, 'object_unknown'],
  ] as const)('%s raises an anomaly', async (_, event, data, kind) => {
    const before = (await fixture.anomalies()).length
    expect(await deliver(event, data)).toBe('done')
    const after = await fixture.anomalies()
    expect(after.length).toBe(before + 1)
    expect(after.map((anomaly) => anomaly.kind)).toContain(kind)
  })

  test('about a payout is left to payouts', async () => {
    const before = (await fixture.anomalies()).length
    expect(await deliver('payout.succeeded', { id: 'disb-1' })).toBe('done')
    expect((await fixture.anomalies()).length).toBe(before)
  })

  test("about an operator's refund that cannot be found is retried for a while, then raises an anomaly", async () => {
    const asked = { wallet, amount: '50000', method: 'qr', quoteId: fixture.quote() }
    const id = (await fixture.topup(asked)).ok!.paymentId
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'CARDS', force: true })
    await fixture.becomes(id, { state: 'paid' })
    await fixture.settle('credit', id)
    const { paymentRequestId } = (await fixture.row(id))!
    const data = { id: 'rfd-1', payment_request_id: paymentRequestId }
    expect(await deliver('refund.succeeded', data)).toMatchObject({ retryInMs: expect.anything() })
    const body = JSON.stringify({ event: 'refund.succeeded', data })
    // The webhook was received a minute ago, or by a gateway whose clock is two hours ahead.
    for (const ms of [-61_000, 7_200_000]) {
      const receivedAt = new Date(Date.now() + ms).toISOString()
      expect(await fixture.deliver('ID', body, crypto.randomUUID(), receivedAt)).toBe('done')
    }
    const kept = expect.objectContaining({ kind: 'object_unknown', object: 'rfd-1' })
    expect(await fixture.anomalies()).toContainEqual(kept)
    expect(await fixture.row(id)).toMatchObject({ state: 'held', refundedMinor: 0n })
  })
})

describe('the webhook of a paid checkout', () => {
  const paidUnseen = async () => {
    const answer = await fixture.topup({ wallet, amount: '50000', method: 'qr', quoteId: fixture.quote() })
    const id = answer.ok!.paymentId
    await fixture.control('faults', { webhooks: { drop: 1 } })
    const { payment_id } = await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await fixture.control('faults', {})
    const { checkoutId } = (await fixture.row(id))!
    return { id, paymentId: payment_id as string, checkoutId }
  }
  /** Delivers the webhook, and returns which objects were looked up. */
  const deliver = async (data: object) => {
    const looked: string[] = []
    const { provider } = fixture.context
    const findCheckout: typeof provider.findCheckout = (...asked) => {
      looked.push('checkout')
      return provider.findCheckout(...asked)
    }
    const findCharge: typeof provider.findCharge = (...asked) => {
      looked.push('payment')
      return provider.findCharge(...asked)
    }
    Object.assign(fixture.context, { provider: { ...provider, findCheckout, findCharge } })
    const body = JSON.stringify({ event: 'payment_session.completed', data })
    expect(await fixture.deliver('ID', body, crypto.randomUUID())).toBe('done')
    Object.assign(fixture.context, { provider })
    return looked
  }

  test('costs one look-up, of the payment that it names', async () => {
    const { id, paymentId, checkoutId } = await paidUnseen()
    const data = { payment_session_id: checkoutId, payment_id: paymentId, reference_id: id }
    expect(await deliver(data)).toEqual(['payment'])
    await fixture.becomes(id, { state: 'paid', providerPaymentId: paymentId })
  })

  // guard: the payment that a webhook names is received only if it is that of the checkout
  test('is received by its checkout if the payment that it names is of another one', async () => {
    const [mine, other] = [await paidUnseen(), await paidUnseen()]
    const data = { payment_session_id: mine.checkoutId, payment_id: other.paymentId, reference_id: mine.id }
    expect(await deliver(data)).toEqual(['payment', 'checkout', 'payment'])
    await fixture.becomes(mine.id, { state: 'paid' })
    expect(await fixture.row(other.id)).toMatchObject({ state: 'awaiting_payment' })
  })

  test('is received by its checkout if the payment that it names is not found', async () => {
    const { id, checkoutId } = await paidUnseen()
    const data = { payment_session_id: checkoutId, payment_id: 'py-0', reference_id: id }
    expect(await deliver(data)).toEqual(['payment', 'checkout', 'payment'])
    await fixture.becomes(id, { state: 'paid' })
  })
})

describe('the second webhook of one payment', () => {
  const paid = async () => {
    const answer = await fixture.topup({ wallet, amount: '50000', method: 'qr', quoteId: fixture.quote() })
    const id = answer.ok!.paymentId
    const { payment_id } = await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await fixture.becomes(id, { state: 'paid' })
    const { checkoutId } = (await fixture.row(id))!
    return { id, payment_id: payment_id as string, checkoutId }
  }
  const deliver = async (event: string, data: object) => {
    await fixture.control('faults', { api: { errorRate: 1 } })
    const outcome = await fixture.deliver('ID', JSON.stringify({ event, data }), crypto.randomUUID())
    await fixture.control('faults', {})
    return outcome
  }
  const asksProvider = { retryInMs: expect.anything() }

  test('is done without a look-up, whether it is of the checkout or of the payment', async () => {
    const { id, payment_id, checkoutId } = await paid()
    const data = { payment_id, payment_session_id: checkoutId, reference_id: id }
    expect(await deliver('payment.capture', data)).toBe('done')
    expect(await deliver('payment_session.completed', data)).toBe('done')
  })

  test('is looked up if it is of another payment, names no payment, or says anything else', async () => {
    const { id, payment_id, checkoutId } = await paid()
    const data = { payment_id, payment_session_id: checkoutId, reference_id: id }
    expect(await deliver('payment.capture', { ...data, payment_id: 'py-second' })).toMatchObject(asksProvider)
    expect(await deliver('payment_session.completed', { ...data, payment_id: '' })).toMatchObject(asksProvider)
    expect(await deliver('payment.failure', data)).toMatchObject(asksProvider)
    expect(await deliver('payment_session.expired', data)).toMatchObject(asksProvider)
  })

  test('is looked up if it arrives later, because the payment may have changed', async () => {
    const { id, payment_id } = await paid()
    fixture.time.aheadMs += 11_000
    expect(await deliver('payment.capture', { payment_id, reference_id: id })).toMatchObject(asksProvider)
  })
})
