import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { openSandboxFixture, type SandboxFixture, sessionBody } from '#test/support/sandbox'

let fixture: SandboxFixture
beforeEach(async () => {
  fixture = await openSandboxFixture()
})
afterEach(() => fixture[Symbol.asyncDispose]())

const open = async (change = {}) =>
  (await fixture.call('ID', '/sessions', sessionBody(change))).json.payment_session_id as string

describe('a session that is paid', () => {
  test('a session that is paid sends two webhooks, of which only the payment names the channel', async () => {
    const id = await open({ reference_id: 'order-7001' })
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    const [capture] = await fixture.events('payment.capture')
    const [completed] = await fixture.events('payment_session.completed')
    expect(capture?.path).toBe('/webhooks/payments')
    expect(capture?.headers.get('x-callback-token')).toBe('token-id')
    expect(capture?.headers.get('webhook-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(capture?.json).toMatchObject({ event: 'payment.capture', api_version: 'v3' })
    const { data } = capture!.json
    expect(data.payment_id).toMatch(/^py-[0-9a-f-]{36}$/)
    expect(data.payment_request_id).toMatch(/^pr-[0-9a-f-]{36}$/)
    expect(data.reference_id).toMatch(/^order-7001_[0-9a-f]{8}-1$/)
    expect(data.captures[0].capture_id).toMatch(/^cptr-[0-9a-f-]{36}$/)
    expect(data).toMatchObject({
      channel_code: 'QRIS',
      status: 'SUCCEEDED',
      request_amount: 150_000,
      captures: [{ capture_amount: 150_000 }],
    })
    expect('amount' in data).toBe(false)
    expect(completed?.json.data).toMatchObject({
      payment_session_id: id,
      status: 'COMPLETED',
      reference_id: 'order-7001',
      payment_id: data.payment_id,
    })
    expect(completed?.text).not.toContain('QRIS')
  })

  test('a session is not paid by a channel that does not take the amount, unless it is forced', async () => {
    const id = await open({ amount: 60_000_000 })
    const by = { channel_code: 'BCA_VIRTUAL_ACCOUNT' }
    const error =
      'BCA_VIRTUAL_ACCOUNT cannot pay this session: it takes Rp 10.000 to Rp 50.000.000 (force: true pays it anyway)'
    expect(await fixture.control(`sessions/${id}/pay`, by)).toMatchObject({ status: 400, json: { error } })
    expect((await fixture.control(`sessions/${id}/pay`, { ...by, force: true })).status).toBe(200)
  })

  test('a session is paid once, and its payment is unknown to the other account', async () => {
    const id = await open()
    const { payment_id } = (await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })).json
    const neighbour = await fixture.get('MY', `/v3/payments/${payment_id}`)
    expect(neighbour).toMatchObject({ status: 404, json: { error_code: 'DATA_NOT_FOUND' } })
    expect((await fixture.control(`sessions/${id}/pay`)).status).toBe(409)
  })

  test('a session that is paid can be forced to be paid again, through another payment request', async () => {
    const id = await open()
    const path = `sessions/${id}/pay`
    const first = (await fixture.control(path, { channel_code: 'QRIS' })).json
    const again = (await fixture.control(path, { channel_code: 'QRIS', force: true })).json
    expect(again.payment_request_id).not.toBe(first.payment_request_id)
    const { payment_id, payment_request_id } = first
    const session = { status: 'COMPLETED', payment_id, payment_request_id }
    expect((await fixture.get('ID', `/sessions/${id}`)).json).toMatchObject(session)
    await fixture.events('payment.capture', 2)
  })

  test('a payment that is hidden is found by no look-up, until it is shown', async () => {
    const { payment_id } = (await fixture.control(`sessions/${await open()}/pay`)).json
    await fixture.control(`payments/${payment_id}/tell`, { hidden: true })
    expect((await fixture.get('ID', `/v3/payments/${payment_id}`)).status).toBe(404)
    await fixture.control(`payments/${payment_id}/tell`)
    expect((await fixture.get('ID', `/v3/payments/${payment_id}`)).status).toBe(200)
  })

  test('a session that is paid sends its two webhooks in both orders', async () => {
    const orders = new Set<string>()
    for (let count = 0; count < 20; count++) {
      await fixture.control(`sessions/${await open()}/pay`)
    }
    const { webhooks } = await fixture.book()
    for (let at = 0; at < webhooks.length; at += 2) orders.add(webhooks[at].event)
    expect([...orders].sort()).toEqual(['payment.capture', 'payment_session.completed'])
  })

  test('a session refuses payment by a channel that it does not allow, unless forced', async () => {
    const id = await open({ allowed_payment_channels: ['CARDS'] })
    expect((await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })).status).toBe(400)
    const forced = { channel_code: 'BRAND_NEW', force: true }
    expect((await fixture.control(`sessions/${id}/pay`, forced)).json.channel_code).toBe('BRAND_NEW')
  })
})

describe('a session that is not paid', () => {
  test('a session that is not paid stays open after a failed attempt, and the next attempt succeeds', async () => {
    const id = await open()
    await fixture.control(`sessions/${id}/fail`, { failure_code: 'INSUFFICIENT_BALANCE' })
    const [failure] = await fixture.events('payment.failure')
    const failed = { status: 'FAILED', failure_code: 'INSUFFICIENT_BALANCE', captures: [] }
    expect(failure?.json.data).toMatchObject(failed)
    expect((await fixture.get('ID', `/sessions/${id}`)).json.status).toBe('ACTIVE')
    const paid = await fixture.control(`sessions/${id}/pay`)
    expect(paid.json.reference_id).toMatch(/-2$/)
  })

  test('a session that is not paid expires, and a late payment is sent without the session', async () => {
    const id = await open({ reference_id: 'late-1' })
    await fixture.control(`sessions/${id}/choose`, { channel_code: 'BCA_VIRTUAL_ACCOUNT' })
    await fixture.control('sessions/late-1/expire')
    const [expired] = await fixture.events('payment_session.expired')
    expect(expired?.json.data.status).toBe('EXPIRED')
    expect('payment_id' in expired!.json.data).toBe(false)
    await fixture.events('payment_request.expiry')
    const late = await fixture.control(`sessions/${id}/pay`)
    await fixture.events('payment.capture')
    const session = (await fixture.get('ID', `/sessions/${id}`)).json
    expect(session.status).toBe('EXPIRED')
    const request = await fixture.get('ID', `/v3/payment_requests/${session.payment_request_id}`)
    expect(request.json).toMatchObject({
      status: 'EXPIRED',
      latest_payment_id: late.json.payment_id,
    })
    const { webhooks } = await fixture.book()
    expect(webhooks.map((w: { event: string }) => w.event)).not.toContain('payment_session.completed')
  })

  test('a session can be cancelled and still be paid with a code shown earlier', async () => {
    const id = await open({ reference_id: 'recalled-1' })
    const shown = await fixture.control(`sessions/${id}/choose`, {
      channel_code: 'BCA_VIRTUAL_ACCOUNT',
    })
    await fixture.call('ID', `/sessions/${id}/cancel`)
    const late = await fixture.control(`sessions/${id}/pay`)
    expect(late.json).toMatchObject({
      payment_request_id: shown.json.payment_request_id,
      channel_code: 'BCA_VIRTUAL_ACCOUNT',
      status: 'SUCCEEDED',
    })
    const [told] = await fixture.events('payment.capture')
    expect(told?.json.data.payment_id).toBe(late.json.payment_id)
    const session = (await fixture.get('ID', `/sessions/${id}`)).json
    expect(session).toMatchObject({ status: 'CANCELED', payment_id: null })
    const { webhooks } = await fixture.book()
    expect(webhooks.map((w: { event: string }) => w.event)).toEqual(['payment.capture'])
  })

  test('a session that was cancelled before a code was shown can be paid only by force', async () => {
    const id = await open()
    await fixture.call('ID', `/sessions/${id}/cancel`)
    expect((await fixture.control(`sessions/${id}/pay`)).status).toBe(409)
    expect((await fixture.book()).payments).toEqual([])
    const forced = { channel_code: 'CARDS', force: true }
    const { json } = await fixture.control(`sessions/${id}/pay`, forced)
    expect(json).toMatchObject({ channel_code: 'CARDS', status: 'SUCCEEDED' })
    expect((await fixture.get('ID', `/sessions/${id}`)).json.status).toBe('CANCELED')
    expect((await fixture.control(`sessions/${id}/choose`)).status).toBe(409)
  })

  test('a session can be authorized, and its payment captured or left to expire', async () => {
    const first = await fixture.control(`sessions/${await open()}/authorize`, {
      channel_code: 'CARDS',
    })
    expect(first.json.status).toBe('AUTHORIZED')
    await fixture.events('payment.authorization')
    const captured = await fixture.control(`payments/${first.json.payment_id}/capture`)
    expect(captured.json).toMatchObject({
      payment_id: first.json.payment_id,
      status: 'SUCCEEDED',
    })
    const second = await fixture.control(`sessions/${await open()}/authorize`)
    await fixture.control(`payments/${second.json.payment_id}/expire`)
    expect((await fixture.events('payment.expiry'))[0]?.json.data.status).toBe('EXPIRED')
  })

  test('a session is paid by a simulation of its virtual account', async () => {
    const id = await open()
    const chosen = await fixture.control(`sessions/${id}/choose`, {
      channel_code: 'BNI_VIRTUAL_ACCOUNT',
    })
    const path = `/v3/payment_requests/${chosen.json.payment_request_id}/simulate`
    expect((await fixture.call('ID', path, { amount: 150_000 })).json.status).toBe('PENDING')
    await fixture.events('payment_session.completed')
    expect((await fixture.call('ID', path)).json.error_code).toBe('INACTIVE_PAYMENT_REQUEST')
  })
})
