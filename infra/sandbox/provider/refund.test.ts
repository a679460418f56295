import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { waitUntil } from '#infra/local/wait'
import { openSandboxFixture, type SandboxFixture, sessionBody } from '#test/support/sandbox'

let fixture: SandboxFixture
beforeAll(async () => {
  fixture = await openSandboxFixture({ payoutSettleMs: 86_400_000 })
})
afterAll(() => fixture[Symbol.asyncDispose]())

const paidBy = async (channel_code: string) => {
  const session = await fixture.call('ID', '/sessions', sessionBody())
  const path = `sessions/${session.json.payment_session_id}/pay`
  return (await fixture.control(path, { channel_code })).json
}
const ask = (payment_request_id: string, change = {}) =>
  fixture.call('ID', '/refunds', { payment_request_id, reason: 'CANCELLATION', ...change })

describe('a refund', () => {
  test('a refund is pending first, and has a webhook when it succeeds', async () => {
    const payment = await paidBy('DANA')
    const { status, json } = await ask(payment.payment_request_id, { amount: 50_000 })
    expect(status).toBe(200)
    expect(json.id).toMatch(/^rfd-/)
    expect(json).toMatchObject({
      payment_request_id: payment.payment_request_id,
      status: 'PENDING',
      amount: 50_000,
    })
    const again = await ask(payment.payment_request_id)
    expect(again.json.error_code).toBe('REFUND_IN_PROGRESS')
    await fixture.control(`refunds/${json.id}/succeed`)
    const [told] = await fixture.events('refund.succeeded')
    expect(told?.json.data.data ?? told?.json.data).toMatchObject({
      id: json.id,
      status: 'SUCCEEDED',
      amount: 50_000,
      channel_code: 'DANA',
      payment_method_type: 'EWALLET',
    })
    expect((await fixture.get('ID', `/refunds/${json.id}`)).json.status).toBe('SUCCEEDED')
    const list = await fixture.get('ID', `/refunds?payment_request_id=${payment.payment_request_id}`)
    expect(list.json.data.map((refund: { id: string }) => refund.id)).toEqual([json.id])
    const rest = await ask(payment.payment_request_id, { amount: 100_001 })
    expect(rest.json.error_code).toBe('REFUND_AMOUNT_EXCEEDED')
  })

  test.each([
    ['BCA_VIRTUAL_ACCOUNT', {}, 403, 'REFUND_NOT_SUPPORTED'],
    ['LINKAJA', { amount: 1_000 }, 403, 'PARTIAL_REFUND_NOT_SUPPORTED'],
    ['DANA', { reason: 'BORED' }, 400, 'API_VALIDATION_ERROR'],
    ['DANA', { payment_request_id: 'pr-none' }, 404, 'DATA_NOT_FOUND'],
  ])('a refund of %s with %o is refused: %i %s', async (channel, change, status, error_code) => {
    const payment = await paidBy(channel)
    const answer = await ask(payment.payment_request_id, change)
    expect(answer).toMatchObject({ status, json: { error_code } })
  })

  test('a refund is created once for its key', async () => {
    const payment = await paidBy('DANA')
    const asked = { payment_request_id: payment.payment_request_id, reason: 'CANCELLATION' }
    const again = (change = {}) => fixture.call('ID', '/refunds', { ...asked, ...change }, { 'Idempotency-key': 'r-1' })
    const { json } = await again()
    expect(await again()).toMatchObject({ status: 200, json: { id: json.id } })
    expect(await again({ amount: 1_000 })).toMatchObject({
      status: 409,
      json: { error_code: 'DUPLICATE_ERROR' },
    })
    const { refunds } = (await fixture.book()) as { refunds: { id: string }[] }
    expect(refunds.filter(({ id }) => id === json.id)).toMatchObject([{ idempotency_key: 'r-1', replays: 1 }])
    await fixture.control('faults', { api: { forgetKeys: 1 } })
    const unknown = await again()
    await fixture.control('faults', {})
    expect(['REFUND_IN_PROGRESS', 'REFUND_AMOUNT_EXCEEDED']).toContain(unknown.json.error_code)
  })

  test('a refund from the dashboard ignores channel rules, and can fail', async () => {
    const payment = await paidBy('BCA_VIRTUAL_ACCOUNT')
    const path = `payments/${payment.payment_id}/refund`
    const failed = await fixture.control(path, { failure_code: 'REFUND_FAILED' })
    expect(failed.json).toMatchObject({ status: 'FAILED', failure_code: 'REFUND_FAILED' })
    await fixture.events('refund.failed')
    expect((await fixture.control(path)).json).toMatchObject({
      status: 'SUCCEEDED',
      amount: 150_000,
    })
    expect((await fixture.control(path)).status).toBe(409)
  })
})

test('a refund that is nameless has no id in its row at any reading of the list', async () => {
  const payment = await paidBy('DANA')
  await fixture.control(`payments/${payment.payment_id}/refund`, { nameless: true })
  for (let times = 0; times < 2; times++) {
    const { data } = (await fixture.get('ID', '/transactions?types=REFUND&limit=50')).json
    const row = data.find(({ reference_id }: { reference_id: string }) => reference_id === payment.reference_id)
    expect(row).toMatchObject({ product_id: null, status: 'SUCCESS' })
  }
})

describe('the forms of a refund', () => {
  const formOf = async (seed: number) => {
    const payment = await paidBy('DANA')
    await fixture.control('faults', { seed })
    const path = `payments/${payment.payment_id}/refund`
    const { json } = await fixture.control(path)
    // Webhooks of the refunds before may still be on their way.
    const told = await waitUntil('the webhook of this refund', async () => {
      const all = await fixture.events('refund.succeeded')
      return all.map((one) => one.json.data).find((data) => (data.data ?? data).id === json.id)
    })
    await fixture.control('faults', { seed: null })
    const names = { [payment.payment_id]: 'payment', [payment.payment_request_id]: 'request' }
    return { named: names[json.payment_id] ?? json.payment_id?.slice(0, 4) ?? 'none', isWrapped: 'data' in told }
  }

  test('the payment is named by each documented id, and the webhook has one envelope or two, by the seed', async () => {
    const forms = await Array.fromAsync({ length: 24 }, (_, seed) => formOf(seed))
    expect(new Set(forms.map(({ named }) => named))).toEqual(new Set(['payment', 'request', 'ewc_', 'none']))
    expect(new Set(forms.map(({ isWrapped }) => isWrapped))).toEqual(new Set([true, false]))
    expect(await Array.fromAsync({ length: 24 }, (_, seed) => formOf(seed))).toEqual(forms)
  })

  test('each of the two APIs knows its own refunds only', async () => {
    const payment = await paidBy('DANA')
    const path = `payments/${payment.payment_id}/refund`
    const legacy = (await fixture.control(path, { amount: 1_000 })).json.id
    const current = (await fixture.control(path, { amount: 1_000, version: 3 })).json.refund_id
    const statusOf = async (at: string) => (await fixture.get('ID', at)).status
    expect(await statusOf(`/refunds/${legacy}`)).toBe(200)
    expect(await statusOf(`/v3/refunds/${legacy}`)).toBe(404)
    expect(await statusOf(`/refunds/${current}`)).toBe(404)
    const { json } = await fixture.get('ID', `/v3/refunds/${current}`)
    expect(json).toMatchObject({ refund_id: current, payment_id: payment.payment_id, status: 'SUCCEEDED' })
    const list = await fixture.get('ID', `/refunds?payment_request_id=${payment.payment_request_id}`)
    expect(list.json.data.map(({ id }: { id: string }) => id)).toEqual([legacy])
  })
})
