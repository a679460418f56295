import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openSandboxFixture, type SandboxFixture, sessionBody } from '#test/support/sandbox'

let fixture: SandboxFixture
beforeAll(async () => {
  fixture = await openSandboxFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

describe('a session', () => {
  test('a session is created as documented and reads back the same', async () => {
    const { status, headers, json } = await fixture.call('ID', '/sessions', sessionBody())
    expect(status).toBe(201)
    expect(headers.get('rate-limit-limit')).toMatch(/^\d+$/)
    expect(headers.get('rate-limit-remaining')).toMatch(/^\d+$/)
    expect(headers.get('rate-limit-reset')).toMatch(/^\d+\.\d+$/)
    expect(json.payment_session_id).toMatch(/^ps-[0-9a-f]{24}$/)
    expect(json).toMatchObject({
      status: 'ACTIVE',
      amount: 150_000,
      currency: 'IDR',
      country: 'ID',
      payment_link_url: `${fixture.url}/checkout/${json.payment_session_id}`,
      payment_request_id: null,
      payment_id: null,
    })
    expect('channel_code' in json).toBe(false)
    expect(Date.parse(json.expires_at) - Date.parse(json.created)).toBe(30 * 60_000)
    const read = await fixture.get('ID', `/sessions/${json.payment_session_id}`)
    expect(read).toMatchObject({ status: 200, json })
    const neighbour = await fixture.get('MY', `/sessions/${json.payment_session_id}`)
    expect(neighbour).toMatchObject({ status: 404, json: { error_code: 'NOT_FOUND' } })
  })

  test('a session may share its reference with another session', async () => {
    const body = sessionBody()
    const [first, second] = [await fixture.call('ID', '/sessions', body), await fixture.call('ID', '/sessions', body)]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(first.json.payment_session_id).not.toBe(second.json.payment_session_id)
  })

  test.each([
    [{ reference_id: undefined }, 'API_VALIDATION_ERROR'],
    [{ reference_id: 'x'.repeat(65) }, 'API_VALIDATION_ERROR'],
    [{ amount: '150000' }, 'API_VALIDATION_ERROR'],
    [{ session_type: 'SAVE' }, 'SESSION_TYPE_NOT_SUPPORTED'],
    [{ mode: 'COMPONENTS' }, 'MODE_NOT_SUPPORTED'],
    [{ country: 'MY' }, 'INVALID_COUNTRY'],
    [{ currency: 'MYR' }, 'INVALID_CURRENCY'],
    [{ amount: 10_000.5 }, 'INVALID_AMOUNT'],
    [{ allowed_payment_channels: ['GRABPAY'] }, 'INVALID_PAYMENT_CHANNEL'],
    [{ customer_id: 'abc' }, 'INVALID_CUSTOMER_ID'],
    [{ metadata: { key: 'x'.repeat(81) } }, 'INVALID_METADATA'],
    [{ cancel_return_url: 'javascript:alert(1)' }, 'INVALID_URL'],
  ])('a session with %o is refused: %s', async (change, error_code) => {
    const answer = await fixture.call('ID', '/sessions', sessionBody(change))
    expect(answer).toMatchObject({ status: 400, json: { error_code } })
  })

  test.each(['reference_id', 'session_type', 'amount'])(
    'a session with null for the required %s is refused',
    async (field) => {
      const { status, json } = await fixture.call('ID', '/sessions', sessionBody({ [field]: null }))
      expect([status, json.error_code]).toEqual([400, 'API_VALIDATION_ERROR'])
      expect(json.errors).toMatchObject([{ path: `/body/${field}` }])
    },
  )

  test("a session without a field is refused with the provider's message", async () => {
    const body = sessionBody({ session_type: undefined })
    const { json } = await fixture.call('ID', '/sessions', body)
    const message = "must have required property 'session_type'"
    expect(json).toEqual({
      error_code: 'API_VALIDATION_ERROR',
      message: `request/body ${message}`,
      errors: [{ path: '/body/session_type', message }],
    })
  })

  test('a session accepts an http return address on the same machine', async () => {
    const body = sessionBody({ success_return_url: 'http://localhost:5173/ok' })
    expect((await fixture.call('ID', '/sessions', body)).status).toBe(201)
  })

  test('a session refuses a customer reference that was used before', async () => {
    const customer = {
      reference_id: 'user1',
      type: 'INDIVIDUAL',
      individual_detail: { given_names: 'Sari' },
    }
    expect((await fixture.call('ID', '/sessions', sessionBody({ customer }))).status).toBe(201)
    const again = await fixture.call('ID', '/sessions', sessionBody({ customer }))
    expect(again).toMatchObject({ status: 409, json: { error_code: 'DUPLICATE_ERROR' } })
  })

  test('a session is cancelled once, without a webhook', async () => {
    const { json } = await fixture.call('ID', '/sessions', sessionBody())
    const path = `/sessions/${json.payment_session_id}/cancel`
    expect((await fixture.call('ID', path)).json.status).toBe('CANCELED')
    const { webhooks } = await fixture.book()
    const about = webhooks.filter(
      (w: { body: { data: { payment_session_id?: string } } }) =>
        w.body.data.payment_session_id === json.payment_session_id,
    )
    expect(about).toEqual([])
  })
})

test("cancelling a session that is EXPIRED is refused with the provider's message, and changes nothing", async () => {
  const { json } = await fixture.call('ID', '/sessions', sessionBody())
  const id = json.payment_session_id
  await fixture.control(`sessions/${id}/expire`)
  expect(await fixture.call('ID', `/sessions/${id}/cancel`)).toMatchObject({
    status: 422,
    json: { error_code: 'INVALID_SESSION_STATUS', message: 'Session status is EXPIRED, expecting ACTIVE' },
  })
  expect((await fixture.get('ID', `/sessions/${id}`)).json.status).toBe('EXPIRED')
})

describe('security: a wrong key', () => {
  test.each([
    ['none', {}],
    ['with a password', { authorization: `Basic ${btoa('key-id:x')}` }],
  ])('a request is refused if its key is %s', async (_, headers) => {
    const answer = await fixture.post('/sessions', sessionBody(), headers)
    expect(answer).toMatchObject({ status: 401, json: { error_code: 'INVALID_API_KEY' } })
  })
})
