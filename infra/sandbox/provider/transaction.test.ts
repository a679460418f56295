import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { patienceMs, waitUntil } from '#infra/local/wait'
import { openLog } from '#platform/log'
import { openProviderClient } from '#shared/provider/client'
import { lacksTransactionRead, listTransactions } from '#shared/provider/transactions'
import { openSandboxFixture, payoutBody, type SandboxFixture, sessionBody } from '#test/support/sandbox'
import { settlesMs, type Transaction } from './transaction'

let fixture: SandboxFixture
beforeEach(async () => {
  fixture = await openSandboxFixture()
})
afterEach(() => fixture[Symbol.asyncDispose]())

type Row = Record<string, unknown> & { id: string; updated: string }
const list = async (query = ''): Promise<Row[]> => (await fixture.get('ID', `/transactions?${query}`)).json.data
const paid = async (channel_code = 'DANA', amount = 150_000, reference_id = 'order-1') => {
  const session = await fixture.call('ID', '/sessions', sessionBody({ reference_id, amount }))
  const path = `sessions/${session.json.payment_session_id}/pay`
  return (await fixture.control(path, { channel_code })).json
}
const paidOut = async (accountNumber: string, status: string) => {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const { json } = await fixture.call('ID', '/v2/payouts', payoutBody(accountNumber), headers)
  const path = `/v2/payouts/${json.id}`
  await waitUntil(status, async () => (await fixture.get('ID', path)).json.status === status)
  return json
}

describe('the list of transactions contains', () => {
  test('the list of transactions contains a payment as soon as it succeeded, in the format of the reference', async () => {
    await fixture.call('ID', '/sessions', sessionBody({ reference_id: 'unpaid' }))
    await fixture.control('sessions/unpaid/fail')
    await fixture.control('sessions/unpaid/authorize', { channel_code: 'CARDS' })
    const payment = await paid('DANA')
    const { status, json } = await fixture.get('ID', '/transactions')
    expect(status).toBe(200)
    expect(json).toMatchObject({ has_more: false, links: [] })
    expect(json.data).toHaveLength(1)
    expect(json.data[0].id).toMatch(/^txn_[0-9a-f-]{36}$/)
    expect(json.data[0]).toEqual({
      id: json.data[0].id,
      product_id: payment.payment_id,
      type: 'PAYMENT',
      status: 'SUCCESS',
      channel_category: 'EWALLET',
      channel_code: 'ID_DANA',
      reference_id: payment.reference_id,
      account_identifier: null,
      currency: 'IDR',
      amount: 150_000,
      net_amount: 150_000,
      net_amount_currency: 'IDR',
      cashflow: 'MONEY_IN',
      settlement_status: 'PENDING',
      estimated_settlement_time: expect.any(String),
      business_id: payment.business_id,
      created: payment.captures[0].capture_timestamp,
      updated: payment.updated,
      fee: {
        xendit_fee: 0,
        value_added_tax: 0,
        xendit_withholding_tax: 0,
        third_party_withholding_tax: 0,
        status: 'NOT_APPLICABLE',
      },
      product_data: {
        capture_id: payment.captures[0].capture_id,
        payment_request_id: payment.payment_request_id,
      },
    })
    expect((await list())[0]!.id).toBe(json.data[0].id)
  })

  test("the list of transactions contains refunds under their own id, with their reference or the payment's", async () => {
    const payment = await paid()
    const path = `payments/${payment.payment_id}/refund`
    const own = (await fixture.control(path, { amount: 50_000, reference_id: 'rf-1' })).json
    const plain = (await fixture.control(path, { failure_code: 'REFUND_FAILED' })).json
    const out = { type: 'REFUND', cashflow: 'MONEY_OUT', estimated_settlement_time: null }
    const rows = await list('types=REFUND')
    expect(rows).toHaveLength(2)
    expect(rows.find((row) => row.product_id === own.id)).toMatchObject({
      ...out,
      status: 'SUCCESS',
      amount: 50_000,
      reference_id: 'rf-1',
    })
    expect(rows.find((row) => row.product_id === plain.id)).toMatchObject({
      ...out,
      status: 'FAILED',
      amount: 100_000,
      reference_id: payment.reference_id,
    })
  })

  test('the list of transactions contains a chargeback, which nothing else reports', async () => {
    const payment = await paid('CARDS')
    const told = (await fixture.book()).webhooks.length
    const path = `payments/${payment.payment_id}/chargeback`
    const whole = (await fixture.control(path)).json
    expect(whole).toMatchObject({
      payment_id: payment.payment_id,
      amount: 150_000,
      status: 'SUCCESS',
    })
    const part = (await fixture.control(path, { amount: 20_000, status: 'PENDING' })).json
    const rows = await list('types=CHARGEBACK')
    expect(rows.map((row) => [row.product_id, row.amount, row.status]).sort()).toEqual(
      [
        [whole.id, 150_000, 'SUCCESS'],
        [part.id, 20_000, 'PENDING'],
      ].sort(),
    )
    expect(rows[0]).toMatchObject({ reference_id: payment.reference_id, cashflow: 'MONEY_OUT' })
    const { chargebacks, webhooks } = await fixture.book()
    expect(chargebacks).toMatchObject([
      { account: 'ID', id: whole.id, payment_id: payment.payment_id },
      { account: 'ID', id: part.id, status: 'PENDING' },
    ])
    expect(webhooks).toHaveLength(told)
  })

  test.each([
    ['1234567890', 'SUCCEEDED', 'SUCCESS'],
    ['999999', 'FAILED', 'FAILED'],
    ['654321', 'REVERSED', 'REVERSED'],
    ['131313', 'ACCEPTED', 'PENDING'],
  ])('the list of transactions contains a payout to account %s, which is %s, as %s', async (account, status, word) => {
    const payout = await paidOut(account, status)
    expect(await list('types=DISBURSEMENT')).toMatchObject([
      {
        product_id: payout.id,
        reference_id: payout.reference_id,
        status: word,
        amount: 250_000,
        account_identifier: account,
        cashflow: 'MONEY_OUT',
        channel_category: 'BANK',
        channel_code: 'ID_BCA',
      },
    ])
  })

  test("the list of transactions contains amounts as JSON numbers in major units, and only its own account's rows", async () => {
    const change = { currency: 'MYR', country: 'MY', amount: 12.34 }
    const session = await fixture.call('MY', '/sessions', sessionBody(change))
    await fixture.control(`sessions/${session.json.payment_session_id}/pay`)
    expect((await fixture.get('MY', '/transactions')).json.data).toMatchObject([
      { amount: 12.34, currency: 'MYR', type: 'PAYMENT' },
    ])
    expect(await list()).toEqual([])
  })
})

test('a row keeps its id, and its time of change moves', async () => {
  const { id } = (await fixture.control(`payments/${(await paid()).payment_id}/chargeback`)).json
  const [before] = await list('types=CHARGEBACK')
  await waitUntil('a later millisecond', () => Date.now() > Date.parse(before!.updated))
  await fixture.control(`chargebacks/${id}`, { status: 'REVERSED' })
  const [after] = await list('types=CHARGEBACK')
  expect(after).toMatchObject({ id: before!.id, status: 'REVERSED', created: before!.created })
  expect(Date.parse(after!.updated)).toBeGreaterThan(Date.parse(before!.updated))
  expect(await list(`types=CHARGEBACK&updated[lte]=${before!.updated}`)).toEqual([])
  expect(await list(`updated[gte]=${after!.updated}`)).toMatchObject([{ id: before!.id }])
})

describe('the fee of the provider', () => {
  const fees = async (query: string) =>
    (await list(query)).map(({ amount, net_amount, fee }) => {
      const { xendit_fee, value_added_tax, status } = fee as Record<string, unknown>
      return [amount, net_amount, xendit_fee, value_added_tax, status]
    })

  test('the fee of the provider applies from the time it is set, with tax, to completed transactions', async () => {
    const { captures } = await paid('DANA', 100_000)
    const before = Date.parse(captures[0].capture_timestamp)
    await waitUntil('a later millisecond', () => Date.now() > before)
    await fixture.control('fees', { bps: 150 })
    const payment = await paid('DANA', 200_000)
    await fixture.control(`payments/${payment.payment_id}/refund`)
    await paidOut('1234567890', 'SUCCEEDED')
    await paidOut('999999', 'FAILED')
    expect((await fees('types=PAYMENT')).sort()).toEqual([
      [100_000, 100_000, 0, 0, 'NOT_APPLICABLE'],
      [200_000, 196_670, 3_000, 330, 'COMPLETED'],
    ])
    expect(await fees('types=REFUND')).toEqual([[200_000, 200_000, 0, 0, 'NOT_APPLICABLE']])
    expect((await fees('types=DISBURSEMENT')).sort()).toEqual([
      [250_000, 250_000, 3_750, 412, 'CANCELED'],
      [250_000, 250_000, 3_750, 412, 'COMPLETED'],
    ])
    const rows = await listTransactions(client(), { types: [], updatedFrom: new Date(0) })
    expect(rows.map(({ feeMinor }) => feeMinor).sort()).toEqual([0n, 0n, 0n, 3_330n, 4_162n])
  })

  test.each([{}, { bps: 1.5 }, { bps: -1 }, { bps: '7' }])('a control with %o sets no fee', async (body) => {
    expect((await fixture.control('fees', body)).status).toBe(400)
  })
})

describe('a query of the list', () => {
  test('a query of the list finds rows by every documented parameter', async () => {
    const payment = await paid('QRIS', 60_000, 'order-a')
    await fixture.control(`payments/${payment.payment_id}/refund`)
    await paid('BNI_VIRTUAL_ACCOUNT', 70_000, 'order-b')
    const payout = await paidOut('1234567890', 'SUCCEEDED')
    const counts = await Promise.all(
      [
        'types=PAYMENT',
        'types=PAYMENT&types=REFUND',
        'types=TOPUP',
        'statuses=SUCCESS&statuses=FAILED',
        'statuses=PENDING',
        'channel_categories=QR_CODE&channel_categories=BANK',
        `reference_id=${payment.reference_id}`,
        'reference_id=order-a',
        `product_id=${payout.id}`,
        'account_identifier=1234567890',
        'currency=IDR',
        'currency=MYR',
        'amount=60000',
        'amount=60000.5',
        `created[gte]=${payment.created}&updated[lte]=2999-01-01T00:00:00Z`,
        'created[gte]=2999-01-01T00:00:00Z',
      ].map(async (query) => [query.replace(/=[^&]*-[^&]*/g, '=…'), (await list(query)).length]),
    )
    expect(counts).toEqual([
      ['types=PAYMENT', 2],
      ['types=PAYMENT&types=REFUND', 3],
      ['types=TOPUP', 0],
      ['statuses=SUCCESS&statuses=FAILED', 4],
      ['statuses=PENDING', 0],
      ['channel_categories=QR_CODE&channel_categories=BANK', 3],
      ['reference_id=…', 2],
      ['reference_id=…', 0],
      ['product_id=…', 1],
      ['account_identifier=1234567890', 1],
      ['currency=IDR', 4],
      ['currency=MYR', 0],
      ['amount=60000', 2],
      ['amount=60000.5', 0],
      ['created[gte]=…&updated[lte]=…', 4],
      ['created[gte]=…', 0],
    ])
  })

  test.each([
    'type=PAYMENT',
    'types=PAYMENT,REFUND',
    'types[]=PAYMENT',
    'statuses=SUCCEEDED',
    'updated_gte=2026-08-01',
    'updated[gte]=yesterday',
    'limit=0',
    'limit=51',
    'limit=many',
    'after_id=txn_none',
    'currency=DOGE',
    'settlement_status=SETTLED',
  ])('a query of the list with %s is refused', async (query) => {
    const answer = await fixture.get('ID', `/transactions?${query}`)
    expect(answer).toMatchObject({ status: 400, json: { error_code: 'API_VALIDATION_ERROR' } })
    expect(answer.json.errors[0].path).toStartWith('/query/')
  })

  test('a query of the list without a key is refused', async () => {
    expect((await fixture.ask('/transactions')).status).toBe(401)
  })
})

describe('the settlement of a payment', () => {
  const row = { account: 'ID', type: 'PAYMENT', status: 'SUCCESS', category: 'EWALLET' } as Transaction
  test.each([
    ['a virtual account', 'ID', 'VIRTUAL_ACCOUNT', '2026-11-24T03:00:00.000Z', '2026-11-24T03:00:00.000Z'],
    ['QRIS', 'ID', 'QR_CODE', '2026-11-24T03:00:00.000Z', '2026-11-26T03:00:00.000Z'],
    ['QRIS that is due on a Saturday', 'ID', 'QR_CODE', '2026-11-26T03:00:00.000Z', '2026-11-30T03:00:00.000Z'],
    ['QRIS that is due on a Sunday', 'ID', 'QR_CODE', '2026-11-27T03:00:00.000Z', '2026-11-30T03:00:00.000Z'],
    ['QRIS on a Sunday only in Jakarta', 'ID', 'QR_CODE', '2026-11-26T17:00:00.000Z', '2026-11-29T17:00:00.000Z'],
    ['DuitNow', 'MY', 'DIRECT_DEBIT', '2026-11-24T03:00:00.000Z', '2026-11-25T03:00:00.000Z'],
    ['DuitNow on a Friday', 'MY', 'DIRECT_DEBIT', '2026-11-27T03:00:00.000Z', '2026-11-30T03:00:00.000Z'],
  ] as const)('%s (%s, %s) of %s is expected at %s', (_, account, category, createdAt, expected) => {
    const createdMs = Date.parse(createdAt)
    expect(new Date(settlesMs({ ...row, account, category, createdMs })).toISOString()).toBe(expected)
  })

  test('changes its row in the list when the expected time has come', async () => {
    await paid('DANA')
    const [pending] = await list()
    expect(pending!.settlement_status).toBe('PENDING')
    await fixture.control('faults', { api: { clockAheadMs: 4 * 86_400_000 } })
    const [settled] = await list()
    const { estimated_settlement_time: expected } = pending!
    expect(settled).toEqual({ ...pending, settlement_status: 'SETTLED', updated: expected } as Row)
    expect(await list(`updated[gte]=${expected}`)).toEqual([settled!])
  })

  test('does not come for a refund', async () => {
    const payment = await paid()
    await fixture.control(`payments/${payment.payment_id}/refund`, { failure_code: 'REFUND_FAILED' })
    const [refund] = await list('types=REFUND')
    expect(refund).toMatchObject({ settlement_status: null, estimated_settlement_time: null })
  })
})

describe('pages of the list', () => {
  test('pages of the list are newest first, ten rows by default, with links in both directions', async () => {
    for (let count = 0; count < 12; count++) await paid('DANA', 10_000 + count)
    const first = (await fixture.get('ID', '/transactions')).json
    expect(first.data).toHaveLength(10)
    expect(first.has_more).toBe(true)
    const created = first.data.map((row: { created: string }) => row.created)
    expect(created).toEqual([...created].sort().reverse())
    const [next] = first.links
    expect(next).toMatchObject({ rel: 'next', method: 'GET' })
    const second = (await fixture.get('ID', next.href)).json
    expect(second).toMatchObject({ has_more: false, links: [] })
    expect(new Set([...first.data, ...second.data].map(({ id }) => id)).size).toBe(12)
    const back = await fixture.get('ID', `/transactions?limit=3&before_id=${second.data[0].id}`)
    expect(back.json.data).toEqual(first.data.slice(-3))
    expect(back.json.has_more).toBe(true)
  })

  test("pages of the list are read completely by the services' client", async () => {
    for (let count = 0; count < 60; count++) await paid('DANA', 10_000 + count)
    const rows = await listTransactions(client(), { types: ['payment'], updatedFrom: new Date(0) })
    expect(new Set(rows.map(({ transactionId }) => transactionId)).size).toBe(60)
    const amounts = rows.map(({ amountMinor }) => Number(amountMinor)).sort()
    expect(amounts).toEqual(Array.from({ length: 60 }, (_, count) => 10_000 + count))
    expect(rows[0]).toMatchObject({ type: 'payment', status: 'succeeded', currency: 'IDR' })
  })
})

const client = () =>
  openProviderClient({
    baseUrl: fixture.url,
    secretKey: 'key-id',
    account: 'ID',
    requestsPerMinute: 60_000,
    log: openLog('payments', 'silent'),
  })

describe('a fault of the list', () => {
  test('a fault can hide refunds from lookups, but not from the list', async () => {
    const payment = await paid()
    const { id } = (await fixture.control(`payments/${payment.payment_id}/refund`)).json
    await fixture.control('faults', { api: { hideRefunds: 1 } })
    for (const path of [`/refunds/${id}`, `/refunds?payment_request_id=${payment.payment_request_id}`])
      expect(await fixture.get('ID', path)).toMatchObject({
        status: 404,
        json: { error_code: 'DATA_NOT_FOUND' },
      })
    expect(await list('types=REFUND')).toMatchObject([{ product_id: id }])
    await fixture.control('faults', {})
    expect((await fixture.get('ID', `/refunds/${id}`)).status).toBe(200)
  })

  test('a fault can remove a permission from the key, which the client distinguishes from other refusals', async () => {
    await fixture.control('faults', { api: { forbidList: 1 } })
    const work = listTransactions(client(), { types: ['refund'], updatedFrom: new Date(0) })
    const error = await work.catch((thrown) => thrown)
    expect(lacksTransactionRead(error)).toBe(true)
  })

  test('a fault can delay the list: new entries appear later', async () => {
    const payment = await paid('CARDS')
    const { id } = (await fixture.control(`payments/${payment.payment_id}/chargeback`)).json
    await fixture.control('faults', { api: { listDelayMs: 6_000 } })
    expect(await list()).toEqual([])
    await waitUntil('both rows', async () => (await list()).length === 2, patienceMs, 20)
    await fixture.control(`chargebacks/${id}`, { status: 'REVERSED' })
    const [before] = await list('types=CHARGEBACK')
    expect(before).toMatchObject({ status: 'SUCCESS', updated: before!.created })
    await waitUntil(
      'the change',
      async () => (await list('types=CHARGEBACK'))[0]!.status === 'REVERSED',
      patienceMs,
      20,
    )
  })
})

describe('a chargeback', () => {
  test.each([
    [{ amount: 0 }, 400],
    [{ status: 'LOST' }, 400],
  ])('a chargeback with %o is refused: %i', async (change, status) => {
    const path = `payments/${(await paid('CARDS')).payment_id}/chargeback`
    expect((await fixture.control(path, change)).status).toBe(status)
    expect((await fixture.book()).chargebacks).toEqual([])
  })

  test('a chargeback may be for more than was paid', async () => {
    const path = `payments/${(await paid('CARDS')).payment_id}/chargeback`
    expect((await fixture.control(path, { amount: 150_001 })).json).toMatchObject({ amount: 150_001 })
  })

  test('a chargeback of an unknown payment or with an unknown status is refused', async () => {
    expect((await fixture.control('payments/py-none/chargeback')).status).toBe(404)
    expect((await fixture.control('chargebacks/cb-none', { status: 'FAILED' })).status).toBe(404)
  })
})
