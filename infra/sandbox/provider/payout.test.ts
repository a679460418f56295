import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { patienceMs, waitUntil } from '#infra/local/wait'
import { openSandboxFixture, payoutBody, type SandboxFixture } from '#test/support/sandbox'

let fixture: SandboxFixture
beforeAll(async () => {
  fixture = await openSandboxFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const create = (body: unknown, key = crypto.randomUUID() as string) =>
  fixture.call('ID', '/v2/payouts', body, { 'idempotency-key': key })
const statusOf = async (id: string) => (await fixture.get('ID', `/v2/payouts/${id}`)).json.status
const reach = (id: string, status: string) =>
  waitUntil(status, async () => (await statusOf(id)) === status, patienceMs, 5)

describe('a payout', () => {
  test('a payout is accepted as documented, and its webhook is flat as observed', async () => {
    const body = payoutBody()
    const { status, json } = await create(body, 'wd-88-a1')
    expect(status).toBe(200)
    expect(json.id).toMatch(/^disb-[0-9a-f-]{36}$/)
    expect(json).toMatchObject({ ...body, status: 'ACCEPTED' })
    expect(Date.parse(json.estimated_arrival_time) - Date.parse(json.created)).toBe(900_000)
    const [told] = await fixture.events('payout.succeeded')
    expect(told?.json).toMatchObject({ event: 'payout.succeeded', api_version: 'v2' })
    expect(told?.json.data).toMatchObject({
      id: json.id,
      amount: 250_000,
      status: 'SUCCEEDED',
      channel_category: 'BANK',
      idempotency_key: 'wd-88-a1',
      account_number: '1234567890',
    })
    expect(told?.json.data.connector_reference).toBeString()
    expect('channel_properties' in told!.json.data).toBe(false)
  })

  test('a payout is created once for its key and body', async () => {
    const body = payoutBody()
    const key = crypto.randomUUID()
    const first = await create(body, key)
    await reach(first.json.id, 'SUCCEEDED')
    const reordered = Object.fromEntries(Object.entries(body).reverse())
    const again = await create(reordered, key)
    expect(again).toMatchObject({ status: 200, json: { id: first.json.id, status: 'SUCCEEDED' } })
    const other = await create({ ...body, amount: 250_001 }, key)
    expect(other).toMatchObject({ status: 409, json: { error_code: 'DUPLICATE_ERROR' } })
    const { payouts } = await fixture.book()
    const mine = payouts.filter((p: { idempotency_key: string }) => p.idempotency_key === key)
    expect(mine).toMatchObject([{ account: 'ID', replays: 1, amount: 250_000 }])
  })

  test('a payout that is answered 500 may still be created later', async () => {
    const body = payoutBody()
    await fixture.control('faults', { api: { acceptLater: 1, acceptLaterMs: 3_000 } })
    const { status } = await create(body)
    await fixture.control('faults', { api: {} })
    expect(status).toBe(500)
    const ours = async () => (await fixture.get('ID', `/v2/payouts?reference_id=${body.reference_id}`)).json.data
    expect(await ours()).toEqual([])
    await waitUntil('it being made', async () => (await ours()).length === 1, patienceMs, 20)
  })

  test('a payout to an unavailable bank is refused, unless it was created before', async () => {
    const body = payoutBody()
    const key = crypto.randomUUID()
    await create(body, key)
    await fixture.control('faults', { api: { closedChannels: 1 } })
    expect(await create(body, key)).toMatchObject({ status: 200 })
    expect(await create(payoutBody())).toMatchObject({
      status: 400,
      json: { error_code: 'CHANNEL_CODE_NOT_SUPPORTED' },
    })
    await fixture.control('faults', { api: {} })
  })

  test('a payout to the account that stays accepted waits for a cancellation; others cannot be cancelled', async () => {
    const waiting = await create(payoutBody('131313'))
    const moving = await create(payoutBody())
    await reach(moving.json.id, 'SUCCEEDED')
    expect(await statusOf(waiting.json.id)).toBe('ACCEPTED')
    const cancelled = await fixture.call('ID', `/v2/payouts/${waiting.json.id}/cancel`)
    expect(cancelled).toMatchObject({ status: 200, json: { status: 'CANCELLED' } })
    const late = await fixture.call('ID', `/v2/payouts/${moving.json.id}/cancel`)
    expect(late).toMatchObject({ status: 400, json: { error_code: 'CANCELLATION_NOT_ALLOWED' } })
  })

  test('a payout that stays requested follows the controls, also by its reference', async () => {
    const failing = await create(payoutBody('141414'))
    await reach(failing.json.id, 'REQUESTED')
    const code = { failure_code: 'ACCOUNT_NAME_MISMATCH' }
    const failed = await fixture.control(`payouts/${failing.json.reference_id}/fail`, code)
    expect(failed.json).toMatchObject({ status: 'FAILED', ...code })
    const paid = await create(payoutBody('141414'))
    await fixture.control(`payouts/${paid.json.id}/succeed`)
    const reversed = await fixture.control(`payouts/${paid.json.id}/reverse`)
    expect(reversed.json.status).toBe('REVERSED')
    expect((await fixture.control(`payouts/${paid.json.id}/fail`)).status).toBe(409)
    expect((await fixture.control('payouts/none/fail')).status).toBe(404)
  })

  test('a payout may fail after it succeeded, or for compliance, and shows any status until it ends', async () => {
    const { id } = (await create(payoutBody('141414'))).json
    const told = await fixture.control(`payouts/${id}/tell`, { status: 'PENDING_COMPLIANCE_ASSESSMENT' })
    expect(told.json.status).toBe('PENDING_COMPLIANCE_ASSESSMENT')
    expect(await statusOf(id)).toBe('PENDING_COMPLIANCE_ASSESSMENT')
    await fixture.control(`payouts/${id}/succeed`)
    expect(await statusOf(id)).toBe('SUCCEEDED')
    expect((await fixture.control(`payouts/${id}/fail`)).json.status).toBe('FAILED')
    const rejected = (await create(payoutBody('141414'))).json.id
    const word = { status: 'COMPLIANCE_REJECTED' }
    expect((await fixture.control(`payouts/${rejected}/fail`, word)).json).toMatchObject(word)
    expect((await fixture.control(`payouts/${rejected}/fail`, { status: 'LOST' })).status).toBe(400)
  })

  test.each([
    [{ channel_code: 'ID_DANA', amount: 20_000_001 }, 'MAXIMUM_TRANSFER_LIMIT_ERROR'],
    [{ amount: 10_000.5 }, 'AMOUNT_INCREMENT_NOT_SUPPORTED'],
    [{ currency: 'MYR' }, 'API_VALIDATION_ERROR'],
    [{ channel_properties: {} }, 'API_VALIDATION_ERROR'],
  ])('a payout with %o is refused: %s', async (change, error_code) => {
    const answer = await create(payoutBody('1234567890', change))
    expect(answer).toMatchObject({ status: 400, json: { error_code } })
  })

  test('a payout requires a key of the Indonesian account', async () => {
    const keyless = await fixture.call('ID', '/v2/payouts', payoutBody())
    expect(keyless).toMatchObject({ status: 400, json: { error_code: 'API_VALIDATION_ERROR' } })
    const headers = { 'idempotency-key': 'x' }
    const malaysian = await fixture.call('MY', '/v2/payouts', payoutBody(), headers)
    expect(malaysian).toMatchObject({
      status: 403,
      json: { error_code: 'REQUEST_FORBIDDEN_ERROR' },
    })
  })

  test('the payout channels list bank codes with limits', async () => {
    const { json } = await fixture.get('ID', '/payouts_channels?currency=IDR&channel_category=BANK')
    const codes = json.map((bank: { channel_code: string }) => bank.channel_code)
    expect(codes).toEqual([...codes].sort())
    expect(codes).not.toContain('ID_OVO')
    const [bsi] = (await fixture.get('ID', '/payouts_channels?channel_code=ID_BSI')).json
    expect(bsi).toEqual({
      channel_code: 'ID_BSI',
      channel_category: 'BANK',
      currency: 'IDR',
      channel_name: 'Bank Syariah Indonesia',
      amount_limits: { minimum: 10_000, maximum: 1_999_999_999_999, minimum_increment: 1 },
    })
  })
})

describe('a payout of the API v3', () => {
  const account = {
    account_holder_name: 'SARI DEWI',
    account_number: '1234567890',
    routing_type_1: 'SWIFT',
    routing_value_1: 'BTANIDJA',
  }
  const person = { type: 'INDIVIDUAL', relationship: 'CUSTOMER', address: { country: 'ID' } }
  const money = { source_currency: 'IDR', destination_currency: 'IDR', destination_amount: 50_000 }
  const body = (change: { account?: object; person?: object; money?: object; whole?: object }) => ({
    reference_id: 'wd-1',
    recipient: { ...person, account_details: { ...account, ...change.account }, ...change.person },
    payout_details: { ...money, ...change.money },
    source_of_fund: 'BUSINESS_REVENUE',
    purpose_code: 'OTHER',
    ...change.whole,
  })
  const create = (change: Parameters<typeof body>[0], key: string = crypto.randomUUID()) =>
    fixture.call('ID', '/v3/payouts', body(change), {
      'api-version': '2025-09-09',
      'idempotency-key': key,
    })

  test.each([
    ['the destination amount', {}],
    ['the source amount', { money: { destination_amount: undefined, source_amount: 50_000 } }],
  ])('a payout of the API v3 by %s is accepted', async (_, change) => {
    const { status, json } = await create(change)
    expect([status, json.status, json.destination_amount]).toEqual([200, 'ACCEPTED', 50_000])
  })

  test.each([
    ['below the minimum', { money: { destination_amount: 4_999 } }, 'MINIMUM_TRANSFER_LIMIT_ERROR'],
    ['above the maximum', { money: { destination_amount: 250_000_001 } }, 'MAXIMUM_TRANSFER_LIMIT_ERROR'],
    ['in fractions', { money: { destination_amount: 50_000.5 } }, 'INVALID_VALUE_ERROR'],
    ['with both amounts', { money: { source_amount: 50_000 } }, 'API_VALIDATION_ERROR'],
    ['without an amount', { money: { destination_amount: undefined } }, 'API_VALIDATION_ERROR'],
    ['without a source currency', { money: { source_currency: null } }, 'API_VALIDATION_ERROR'],
    ['from another currency', { money: { source_currency: 'USD' } }, 'INVALID_VALUE_ERROR'],
    ['to nobody of a kind', { person: { type: undefined } }, 'API_VALIDATION_ERROR'],
    ['without a relationship', { person: { relationship: null } }, 'API_VALIDATION_ERROR'],
    ['with null for the address', { person: { address: null } }, 'API_VALIDATION_ERROR'],
    ['with a long holder', { account: { account_holder_name: 'x'.repeat(101) } }, 'API_VALIDATION_ERROR'],
    ['with an unknown routing', { account: { routing_type_1: 'BIC' } }, 'API_VALIDATION_ERROR'],
    ['with null for the purpose', { whole: { purpose_code: null } }, 'API_VALIDATION_ERROR'],
  ])('a payout of the API v3 %s is refused', async (_, change, error_code) => {
    expect(await create(change)).toMatchObject({ status: 400, json: { error_code } })
  })

  test('a payout of the API v3 with a key of more than 100 characters is refused', async () => {
    const { status, json } = await create({}, 'k'.repeat(101))
    expect([status, json.error_code]).toEqual([400, 'API_VALIDATION_ERROR'])
  })
})
