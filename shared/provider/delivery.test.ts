import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { keptDelivery, readerOf } from './delivery'

const personal = {
  account_number: '1234567890',
  account_holder_name: 'Sari Dewi',
  channel_properties: { account_number: '1234567890', account_holder_name: 'Sari Dewi' },
  payer_name: 'Sari Dewi',
  payment_details: { payer_account_number: '1234567890' },
  customer: { email: 'sari@example.com' },
  metadata: { note: 'Sari Dewi' },
}
const said = /Sari|1234567890|example\.com/

describe('a stored delivery', () => {
  test.each([
    [
      'a payout',
      {
        event: 'payout.succeeded',
        data: { id: 'disb-1', reference_id: 'r-1', status: 'SUCCEEDED' },
      },
    ],
    ['a v3 payout', { event: 'v3_payout.succeeded', data: { payout_id: 'po-1', status: 'SUCCEEDED' } }],
    [
      'a payment',
      {
        event: 'payment.capture',
        data: { payment_id: 'py-1', payment_request_id: 'pr-1', status: 'SUCCEEDED' },
      },
    ],
    [
      'a flat dispute',
      { event: 'dispute.lost', id: 'mi-dspt-1', payment_id: 'py-1', reference_id: 'r-1', status: 'LOST' },
    ],
    ['a wrapped refund', { event: 'refund.succeeded', data: { data: { id: 'rfd-1', payment_id: 'py-1' } } }],
  ])('of %s has its event, ids, reference and status, and no personal details', (_, body) => {
    const { data, ...top } = body as { event: string; data?: { data?: object } }
    const inner = data?.data ? { data: { ...data.data, ...personal } } : data
    const whole = { ...personal, ...top, business_id: 'b', ...(data && { data: { ...inner, ...personal } }) }
    const kept = keptDelivery(JSON.stringify(whole))
    expect(JSON.parse(kept)).toEqual(body)
    expect(kept).not.toMatch(said)
  })
  test('of any JSON has nothing but text of the used fields, at most 200 characters each', () => {
    fc.assert(
      fc.property(fc.json(), (body) => {
        const kept = JSON.parse(keptDelivery(body))
        expect(Object.keys(kept).filter((key) => !/^(event|data|status|id|.*_id)$/.test(key))).toEqual([])
      }),
    )
    const long = JSON.stringify({ event: 'x'.repeat(1_000), data: { id: personal } })
    expect(JSON.parse(keptDelivery(long))).toEqual({ event: 'x'.repeat(200), data: { id: {} } })
  })
})

describe('the reader of a delivery', () => {
  test.each(['payout.succeeded', 'payout.cancelled', 'v3_payout.failed', 'payout'])('of %s is payouts', (event) => {
    expect(readerOf(keptDelivery(JSON.stringify({ event, data: {} })))).toBe('payouts')
  })
  test.each([
    ...['payment.capture', 'payment_session.completed', 'refund.failed', 'dispute.lost', 'payouts_link.paid', ''].map(
      (event) => JSON.stringify({ event }),
    ),
    '{}',
    '[]',
    'no json',
    '{"event":7}',
  ])('of %s is payments, which records what it does not know', (body) => {
    expect(readerOf(keptDelivery(body))).toBe('payments')
  })
})
