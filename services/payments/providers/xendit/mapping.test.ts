import { describe, expect, test } from 'bun:test'
import { schemaReader } from '#platform/schema'
import { money } from '#shared/money/money'
import { feeChannels, topupFeesMetadata } from '#shared/money/topup-fee'
import { parseExact } from '#shared/provider/answer'
import type { Checkout, CheckoutOrder, RefundOrder } from '../../provider'
import { chargeFrom, checkoutFrom, refundFrom, refundRequest, sessionRequest } from './mapping'
import { WireOpened, WirePayment, WireRefund, WireSession } from './wire'

const read = <T>(reader: (value: unknown) => { value: T } | { fault: string }, text: string): T => {
  const answer = reader(parseExact(text))
  if ('fault' in answer) throw new Error(answer.fault)
  return answer.value
}
const client = { account: 'ID', aheadMs: () => 0 } as const
const checkoutId = 'ps-6a10c0ffee0000000000a001'
const session = (more: object = {}) =>
  JSON.stringify({
    payment_session_id: checkoutId,
    reference_id: 'order-7001',
    status: 'ACTIVE',
    session_type: 'PAY',
    currency: 'IDR',
    amount: 150_000,
    payment_link_url: 'https://dev.xen.to/aB3dE_7',
    expires_at: '2026-08-01T02:30:00.000Z',
    ...more,
  })
const payment = (more: object = {}, amount = '150000') =>
  JSON.stringify({
    payment_id: 'py-aaaaaaaa-0000-4000-8000-000000000002',
    payment_request_id: 'pr-1',
    reference_id: 'order-7001_1f2e3d4c-1',
    currency: 'IDR',
    channel_code: 'CARDS',
    status: 'SUCCEEDED',
    request_amount: 1,
    payment_details: { authorization_data: {} },
    ...more,
  }).replace('"request_amount":1', `"request_amount":${amount}`)
const capture = (amount: number, at = '2026-08-01T02:07:11.149Z') => ({
  capture_id: 'cptr-1',
  capture_amount: amount,
  capture_timestamp: at,
})

describe('the parser of a Xendit session', () => {
  const checkout = (text: string, by: Parameters<typeof checkoutFrom>[0] = client) =>
    checkoutFrom(by, read(schemaReader(WireSession), text), checkoutId)

  test('accepts it with and without the nullable fields', () => {
    const known: Checkout = {
      checkoutId,
      reference: 'order-7001',
      status: 'open',
      checkoutUrl: 'https://dev.xen.to/aB3dE_7',
      expiresAt: new Date('2026-08-01T02:30:00Z'),
      paymentRequestId: null,
      paymentId: null,
    }
    const nulls = {
      payment_request_id: null,
      payment_id: null,
      payment_token_id: null,
      items: null,
    }
    const empty = { payment_request_id: '', payment_id: '', reference_id: 'order-7001' }
    for (const more of [{}, nulls, empty]) expect(checkout(session(more))).toEqual(known)
  })

  test.each([
    ['ACTIVE', 'open'],
    ['COMPLETED', 'completed'],
    ['EXPIRED', 'closed'],
    ['CANCELED', 'cancelled'],
    ['CANCELLED', 'unknown'],
    ['toString', 'unknown'],
    [null, 'unknown'],
  ] as const)('maps %s to %s', (status, ours) => {
    expect(checkout(session({ status })).status).toBe(ours)
  })

  test.each([7_200_000, -7_200_000])("subtracts the %d ms by which the provider's clock is ahead", (ms) => {
    const wrong = { ...client, aheadMs: () => ms }
    const { expiresAt } = checkout(session(), wrong)
    expect(expiresAt).toEqual(new Date(Date.parse('2026-08-01T02:30:00.000Z') - ms))
  })

  test('security: drops a link that is not a web URL', () => {
    const text = session({ payment_link_url: 'javascript:alert(1)' })
    expect(checkout(text).checkoutUrl).toBeNull()
  })

  test('rejects it without an id', () => {
    const text = session({ payment_session_id: null })
    expect(schemaReader(WireOpened)(parseExact(text))).toHaveProperty('fault')
  })
})

describe('the parser of a Xendit payment', () => {
  const from = (text: string) =>
    chargeFrom(client, read(schemaReader(WirePayment), text), 'py-aaaaaaaa-0000-4000-8000-000000000002')

  test('returns the collected amount, the channel and the time', () => {
    expect(from(payment({ captures: [capture(150_000)] }))).toEqual({
      status: 'succeeded',
      charge: {
        account: 'ID',
        paymentId: 'py-aaaaaaaa-0000-4000-8000-000000000002',
        paymentRequestId: 'pr-1',
        reference: 'order-7001_1f2e3d4c-1',
        currency: 'IDR',
        paidMinor: 150_000n,
        channel: 'CARDS',
        channelKind: 'card',
        paidAt: new Date('2026-08-01T02:07:11.149Z'),
        issuer: null,
        bankReceipt: null,
      },
    })
  })

  test.each([
    [
      'a QR payment, its issuer and its receipt',
      { issuer_name: 'DANA', receipt_id: ' 521802141667 ' },
      'DANA',
      '521802141667',
    ],
    ['a transfer, its bank', { issuer_name: 'BCA', payer_account_number: '1234567890' }, 'BCA', null],
    [
      'a card, its retrieval reference',
      { authorization_data: { retrieval_reference_number: '521802141667' } },
      null,
      '521802141667',
    ],
    ['details that are no object, nothing', 'DANA', null, null],
    ['words of another type, nothing', { issuer_name: 7, receipt_id: { id: '1' } }, null, null],
    [
      'a control character or a long text, nothing',
      { issuer_name: 'DA\u0007NA', receipt_id: '1'.repeat(65) },
      null,
      null,
    ],
  ] as const)('returns of %s', (_, payment_details, issuer, bankReceipt) => {
    expect(from(payment({ payment_details })).charge).toMatchObject({ issuer, bankReceipt })
  })

  test.each([
    ['one capture decides, not the request', { captures: [capture(149_999)] }, '150000', 149_999n],
    ['several captures add up', { captures: [capture(100_000), capture(50_000)] }, '150000', 150_000n],
    ['without captures the request counts', { captures: [] }, '150000', 150_000n],
    ['without the field too', {}, '150000', 150_000n],
    [
      'without a request the captures still add up',
      { captures: [capture(100_000), capture(50_000)] },
      'null',
      150_000n,
    ],
    ['without both the amount is unknown', { captures: null }, 'null', null],
    ['with an empty capture the amount is unknown', { captures: [null] }, '150000', null],
    ['an amount written as text is read exactly', { captures: null }, '"150000.00"', 150_000n],
    ['a text that is no amount is none', { captures: null }, '"Rp 150.000"', null],
    ['ringgit are read in sen', { currency: 'MYR' }, '5.05', 505n],
    ['half a rupiah is not exact', {}, '10000.5', null],
    ['an exponent is not exact', {}, '1e5', null],
    ['other money has no smallest unit of ours', { currency: 'USD' }, '5', null],
  ] as const)('%s', (_, more, amount, paidMinor) => {
    expect(from(payment(more, amount)).charge.paidMinor).toBe(paidMinor)
  })

  const paidAt = (more: object) => from(payment(more)).charge.paidAt?.toISOString()
  test.each([
    [
      'at the first capture, in any order',
      {
        captures: [capture(1, '2026-08-01T02:09:00.000Z'), capture(1, '2026-08-01T02:07:00.000Z')],
      },
      '2026-08-01T02:07:00.000Z',
    ],
    [
      'when it was created, without captures; never when it was changed last',
      { created: '2026-08-01T02:05:00.000Z', updated: '2026-08-03T00:00:00.000Z' },
      '2026-08-01T02:05:00.000Z',
    ],
    ['at no time, without a time field', { updated: '2026-08-03T00:00:00.000Z' }, undefined],
  ])('sets the payment time %s', (_, more, at) => {
    expect(paidAt(more)).toBe(at as string)
  })

  test.each([
    ['SUCCEEDED', 'succeeded'],
    ['AUTHORIZED', 'pending'],
    ['PENDING', 'pending'],
    ['FAILED', 'dead'],
    ['EXPIRED', 'dead'],
    ['CANCELED', 'voided'],
    ['COMPLETED', 'unknown'],
    ['constructor', 'unknown'],
  ] as const)('maps %s to %s', (status, ours) => {
    expect(from(payment({ status })).status).toBe(ours)
  })

  test('returns an unknown status and channel for a payment without readable fields', () => {
    expect(from('{"status":null,"channel_code":7,"currency":null,"captures":"x"}')).toMatchObject({
      status: 'unknown',
      charge: { channel: 'UNKNOWN', channelKind: 'unknown', paidMinor: null, reference: '' },
    })
  })
})

test('the parser of a Xendit refund reads it flat, with its amount in minor units', () => {
  const text = JSON.stringify({
    id: 'rfd-1',
    payment_request_id: 'pr-1',
    payment_id: 'py-2',
    invoice_id: null,
    amount: 50_000,
    currency: 'IDR',
    status: 'SUCCEEDED',
    reason: 'REQUESTED_BY_CUSTOMER',
  })
  expect(refundFrom(read(schemaReader(WireRefund), text), 'rfd-1')).toEqual({
    refundId: 'rfd-1',
    status: 'succeeded',
    paymentId: 'py-2',
    paymentRequestId: 'pr-1',
    reference: null,
    currency: 'IDR',
    refundedMinor: 50_000n,
  })
})

test('the request for a refund contains the payment, the reference, the amount and the reason', () => {
  const order: RefundOrder = {
    account: 'MY',
    paymentRequestId: 'pr-1',
    reference: 'ordered-pay_1_1',
    fiat: money(505n, 'MYR'),
    isSecond: false,
  }
  const asked = {
    payment_request_id: 'pr-1',
    reference_id: 'ordered-pay_1_1',
    amount: 5.05,
    currency: 'MYR' as const,
    reason: 'CANCELLATION',
  }
  expect(refundRequest(order)).toEqual(asked)
  expect(refundRequest({ ...order, isSecond: true })).toEqual({ ...asked, reason: 'DUPLICATE' })
})

describe('the request for a Xendit session', () => {
  const means = { appUrl: 'https://app.example.com', nowMs: Date.parse('2026-08-01T02:15:00Z') }
  const order: CheckoutOrder = {
    account: 'MY',
    reference: 'pay_1',
    fiat: money(505n, 'MYR'),
    description: 'Top-up',
    cardsOnly: false,
    lifeMs: 900_000,
    promised: {
      kind: 'topup',
      wallet: `0x${'a'.repeat(40)}`,
      rate: '421',
      ausd: '1199524',
      quote_id: '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b',
      request_fingerprint: 'A'.repeat(43),
    },
  }

  test('uses major units, captures at once and returns to the app with the id of the payment', () => {
    expect(JSON.parse(JSON.stringify(sessionRequest(order, means)))).toEqual({
      reference_id: 'pay_1',
      session_type: 'PAY',
      mode: 'PAYMENT_LINK',
      country: 'MY',
      currency: 'MYR',
      amount: 5.05,
      capture_method: 'AUTOMATIC',
      locale: 'en',
      expires_at: '2026-08-01T02:30:00.000Z',
      description: 'Top-up',
      success_return_url: 'https://app.example.com/?payment=pay_1',
      cancel_return_url: 'https://app.example.com/?payment=pay_1',
      metadata: order.promised,
    })
  })

  test("describes the promise within the provider's limits: 20 of 80 characters", () => {
    const highest = feeChannels.map((channel) => ({ channel, fixedMinor: 8_000n, bps: 1_000n }))
    const promised = { ...order.promised, method: 'bank', spread: '511', ...topupFeesMetadata(highest) }
    const { metadata } = sessionRequest({ ...order, promised }, means)
    expect(Object.keys(metadata).length).toBeLessThanOrEqual(20)
    for (const value of Object.values(metadata)) expect(value.length).toBeLessThanOrEqual(80)
  })

  test('for cards names that channel only', () => {
    const request = sessionRequest({ ...order, cardsOnly: true }, means)
    expect(request.allowed_payment_channels).toEqual(['CARDS'])
  })

  test('with a name has it where the provider compares it with the sender, under a reference of its own each time', () => {
    const named = (surname: string | null) =>
      sessionRequest({ ...order, payerName: { givenNames: 'Ratna', surname } }, means).customer as {
        reference_id: string
      }
    expect(named('Wira')).toEqual({
      reference_id: expect.stringMatching(/^pay_1-[0-9a-f-]{36}$/),
      type: 'INDIVIDUAL',
      individual_detail: { given_names: 'Ratna', surname: 'Wira' },
    } as never)
    expect(named(null)).toMatchObject({ individual_detail: { given_names: 'Ratna' } })
    expect(named(null).reference_id).not.toBe(named(null).reference_id)
  })
})
