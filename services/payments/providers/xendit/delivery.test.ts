import { describe, expect, test } from 'bun:test'
import { keptDelivery } from '#shared/provider/delivery'
import { readDelivery } from './delivery'

const body = (event: string, data: unknown, more: object = {}) =>
  JSON.stringify({ event, business_id: 'b', created: '2026-08-01T02:07:11.410Z', data, ...more })
const dispute = { about: 'dispute', disputeId: 'mi-dspt-1', paymentId: 'py-1', paymentRequestId: null } as const
const refund = { about: 'refund', refundId: 'rfd-1', paymentId: null, paymentRequestId: 'pr-1' }

describe('a webhook of Xendit', () => {
  test.each([
    ['payment_session.completed', { id: 'ps-1' }, { about: 'checkout', checkoutId: 'ps-1' }],
    ['payment.failure', { payment_id: 'py-1' }, { about: 'payment', paymentId: 'py-1' }],
    ['payment.expiry', { payment_id: 'py-1' }, { about: 'payment', paymentId: 'py-1' }],
    ['payment_request.expiry', { payment_request_id: 'pr-1' }, { about: 'payment_request', paymentRequestId: 'pr-1' }],
    ['refund.succeeded', { id: 'rfd-1', payment_request_id: 'pr-1' }, refund],
    ['refund.failed', { id: 'rfd-1' }, { ...refund, paymentRequestId: null }],
    [
      'refund.succeeded',
      { id: 'rfd-1', payment_request_id: '', payment_id: 'py-1' },
      { ...refund, paymentId: 'py-1', paymentRequestId: null },
    ],
    ['payment_session.expired', { payment_session_id: '', id: 'ps-1' }, { about: 'checkout', checkoutId: 'ps-1' }],
    [
      'payment.capture',
      { payment_id: 'py-1', reference_id: 'pay_1' },
      { about: 'payment', paymentId: 'py-1', reference: 'pay_1', paidBy: 'py-1' },
    ],
    [
      'payment_session.completed',
      { payment_session_id: 'ps-1', payment_id: 'py-1' },
      { about: 'checkout', checkoutId: 'ps-1', paidBy: 'py-1' },
    ],
    [
      'refund.succeeded',
      { refund_id: 'rfd-1', payment_id: 'py-1', reference_id: 'ours' },
      { about: 'refund', refundId: 'rfd-1', paymentId: 'py-1', paymentRequestId: null, reference: 'ours' },
    ],
    ['dispute.lost', { id: 'mi-dspt-1' }, { ...dispute, paymentId: null }],
    ['dispute.lost', { dispute_id: 'mi-dspt-1', payment_id: 'py-1' }, dispute],
  ] as const)('%s with %o is about %o', (event, data, hint) => {
    expect(readDelivery(body(event, data))).toEqual(hint as never)
    expect(readDelivery(keptDelivery(body(event, data)))).toEqual(hint as never)
  })

  test.each(['action_required', 'under_review', 'won', 'lost', 'reopened'])(
    'dispute.%s is about the dispute and its payment, although the body has no data',
    (word) => {
      // From docs.xendit.co/apidocs/dispute-webhook-notifications, shortened.
      const flat = JSON.stringify({
        event: `dispute.${word}`,
        id: 'mi-dspt-1',
        channel_code: 'CARDS',
        status: word.toUpperCase(),
        amount: { initial: '1000.00', terminal: null },
        due_date: '2026-03-15T19:50:51.724Z',
        related_disputes: [],
        payment_id: 'py-1',
        reference_id: 'pay_1',
      })
      expect(readDelivery(flat)).toEqual({ ...dispute, reference: 'pay_1' })
      expect(readDelivery(keptDelivery(flat))).toEqual({ ...dispute, reference: 'pay_1' })
    },
  )

  test.each([
    ['in its data', body('invoice.paid', { id: 'x' }), 'x'],
    ['in data within its data', body('invoice.paid', { data: { id: 'x' } }), 'x'],
    ['at its top', JSON.stringify({ event: 'invoice.paid', id: 'x' }), 'x'],
    ['without an event', JSON.stringify({ id: 'x', status: 'PAID' }), 'x'],
    ['of a payment', body('payment_token.activation', { payment_id: 'py-1' }), 'py-1'],
    ['of ours only', body('invoice.paid', { reference_id: 'pay_1' }), 'pay_1'],
    ['that could not be a part of a path', body('invoice.paid', { id: '../x' }), null],
    ['nowhere', body('invoice.paid', {}), null],
  ])('with an unknown event and an id %s names its object', (_, text, object) => {
    expect(readDelivery(text)).toMatchObject({ about: 'unknown', object })
    expect(readDelivery(keptDelivery(text))).toMatchObject({ about: 'unknown', object })
  })

  test.each([
    ['no JSON', 'hello', '(none)'],
    ['a list', '[]', '(none)'],
    ['no event', '{"data":{}}', '(none)'],
    ['an event that is no text', body(7 as never, {}), '(none)'],
    ['an unknown event', body('invoice.paid', { id: 'x' }), 'invoice.paid'],
    ['a word every object knows', body('constructor', { id: 'x' }), 'constructor'],
    ['no data', body('payment.capture', null), 'payment.capture'],
    ['no id', body('payment.capture', {}), 'payment.capture'],
    ['an id that is no text', body('payment.capture', { payment_id: 5 }), 'payment.capture'],
    ['a path for an id', body('payment.capture', { payment_id: '../x' }), 'payment.capture'],
    ['an endless id', body('payment.capture', { payment_id: 'y'.repeat(81) }), 'payment.capture'],
  ])('with %s is unknown without an error', (_, text, event) => {
    expect(readDelivery(text)).toMatchObject({ about: 'unknown', event })
  })
})
