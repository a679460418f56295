import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Person } from '#infra/demo/person'
import { waitUntil } from '#infra/local/wait'
import { verifiedUser } from '../support/people'
import { openCheckout } from '../support/requests'
import { openRecorded, type RecordedStack } from './fixture'
import { recorded } from './served'

let stack: RecordedStack
let person: Person
beforeAll(async () => {
  stack = await openRecorded()
  person = await verifiedUser(stack.stack)
})
afterAll(() => stack?.[Symbol.asyncDispose]())

type Json = Record<string, unknown>
const dataOf = (body: Json): Json => {
  const data = body.data as Json
  return (data.data as Json | undefined) ?? data
}
const invalid = {
  error_code: 'API_VALIDATION_ERROR',
  message: 'There was an error with the format',
}
const missing = { error_code: 'DATA_NOT_FOUND', message: 'not found' }

function lookUpOf(body: Json): string {
  const data = dataOf(body)
  const family = String(body.event).split('.')[0]
  if (family === 'payment_session') return `GET /sessions/${data.payment_session_id ?? data.id}`
  if (family === 'payment') return `GET /v3/payments/${data.payment_id}`
  if (family === 'refund') return `GET /refunds/${data.id}`
  return data.payout_id ? `GET /v3/payouts/${data.payout_id}` : `GET /v2/payouts/${data.id}`
}

describe('a body about an object that is not ours is recorded once', () => {
  const cases = [
    ['payment-capture-virtual-account', 'object_unknown py-1fdaf346-dd2e-4b6c-b938-124c7167a822'],
    ['payment-capture-paymaya', 'object_unknown py-1402feb0-bb79-47ae-9d1e-e69394d3949c'],
    ['refund-succeeded', 'object_unknown rfd-6f4a377d-a201-437f-9119-f8b00cbbe857'],
    ['refund-failed', 'object_unknown rfd-fca8d8bc-497c-42a5-b16f-97825323502a'],
    ['session-expired', 'object_unknown ps-661f87c614802d6c402cd82d'],
    ['session-completed-dashboard', 'object_unknown ps-579c8d61f23fa4ca35e52da4'],
    ['payout-succeeded-v2', 'payouts: payout_unknown disb-571f3644d2b4edf0745e9703'],
    ['payout-succeeded-v3', 'payouts: payout_unknown po-pending-123'],
    ['bill-payment', 'event_unknown bill_payment.succeeded 3dd4ebd4-f6cf-4042-bc65-dd847adcfb77'],
    ['ewallet-capture', 'event_unknown ewallet.capture ewc_168b969b-1cb1-42f5-a723-b02e5aef02cc'],
  ] as const

  test.each(cases)('%s, when the provider answers 400 to its id', async (name, anomaly) => {
    const { body } = recorded(`payments/${name}`)
    stack.served.serve(lookUpOf(body), invalid, 400)
    expect(await stack.deliver(body)).toEqual([anomaly])
  })

  test.each(cases)('%s, when the provider answers 404, adds nothing', async (name) => {
    const { body } = recorded(`payments/${name}`)
    stack.served.serve(lookUpOf(body), missing, 404)
    expect(await stack.deliver(body)).toEqual([])
  })

  test.each([
    ['of 39 characters and more', { payment_session_id: `ps-${crypto.randomUUID()}` }],
    ['under its older name', { payment_session_id: '', id: `ps-${crypto.randomUUID()}` }],
  ])('a session whose id is %s', async (_, change) => {
    const { body } = recorded('payments/session-completed-dashboard')
    const asked = { ...body, data: { ...dataOf(body), ...change } }
    const id = 'id' in change ? change.id : change.payment_session_id
    expect(await stack.deliver(asked)).toEqual([`object_unknown ${id}`])
  })
})

describe('a body about an object of ours', () => {
  async function paid(amount: string, change: Json, name = 'payment-capture-virtual-account') {
    const checkout = await openCheckout(person, { amount, method: 'bank' })
    const { body } = recorded(`payments/${name}`)
    const { created, updated, ...data } = dataOf(body)
    const payment_id = `py-${crypto.randomUUID()}`
    const now = new Date().toISOString()
    const reference_id = `${checkout.paymentId}_1f2e3d4c-1`
    const payment = {
      ...data,
      payment_id,
      reference_id,
      created: created && now,
      updated: updated && now,
      ...change,
    }
    stack.served.serve(`GET /v3/payments/${payment_id}`, payment)
    const anomalies = await stack.deliver({ ...body, data: payment })
    return { paymentId: checkout.paymentId, payment_id, anomalies }
  }
  const stateOf = async (paymentId: string) => {
    const rows = await stack.sql<{ state: string; reason: string | null }[]>`
      select state, reason from payments.payments where id = ${paymentId}`
    return rows[0]!
  }
  /** Makes a checkout due as if it had just ended; until then the list of transactions is used. */
  const due = (paymentId: string) =>
    stack.sql`update payments.payments set next_check_at = now(), expires_at = now() where id = ${paymentId}`
  const endOf = (paymentId: string) =>
    waitUntil('the payment ending', async () => {
      const now = await stateOf(paymentId)
      return ['credited', 'held', 'review', 'refunded'].includes(now.state) && now
    })

  test.each([
    ['as documented', {}, 'credited', null],
    ['with its amount as text', { request_amount: '10000' }, 'credited', null],
    ['with nulls and unknown fields', { captures: null, verified: [{}] }, 'credited', null],
    [
      'of a virtual account without a requested amount',
      { request_amount: undefined, captures: [{ capture_id: 'cap-1', capture_amount: 10_000 }] },
      'credited',
      null,
    ],
    ['without any amount', { request_amount: null }, 'review', 'amount_differs'],
    ['of half a rupiah', { request_amount: 9_999.5 }, 'review', 'amount_differs'],
    ['in other money', { currency: 'PHP' }, 'review', 'currency_differs'],
    ['through an unknown channel', { channel_code: 'NEW_BANK' }, 'held', null],
    ['through no channel', { channel_code: null }, 'held', null],
  ] as const)('a payment %s', async (_, change, state, reason) => {
    const { paymentId, anomalies } = await paid('10000', change)
    expect(anomalies).toEqual([])
    const now = await endOf(paymentId)
    expect(now).toEqual({ state, reason })
  })

  test('a card payment that has captures but no request or channel is held', async () => {
    const { paymentId } = await paid('115100', {}, 'payment-capture-card')
    expect(await endOf(paymentId)).toEqual({ state: 'held', reason: null })
  })

  /** The verification as documented, see `sender.ts`. */
  const verified = (result: unknown, more: object = {}) => ({
    payment_details: {
      payer_name: 'Sari Dewi',
      verification_result: { is_eligible: true, sender_verification: { result, reason: '' }, ...more },
    },
  })
  test.each([
    ['passed', verified('SENDER_MATCHED'), 'credited', null],
    ['knows no sender', verified('UNKNOWN', { is_eligible: false }), 'review', 'sender_unverified'],
    [
      'finds a risk',
      verified('SENDER_MATCHED', { risk_assessment: { result: 'HIGH' } }),
      'review',
      'sender_unverified',
    ],
    ['is asked for and has no answer in it', { verification_data: {} }, 'credited', null],
    ['failed', verified('FAILED'), 'review', 'sender_unverified'],
    ['has an unknown status', verified('NAME_DIFFERS'), 'review', 'sender_unverified'],
    ['failed, elsewhere in the body', { sender_verification: { result: 'MISMATCH' } }, 'review', 'sender_unverified'],
  ] as const)('a payment whose sender verification %s', async (_, change, state, reason) => {
    const { paymentId } = await paid('10000', change)
    expect(await endOf(paymentId)).toEqual({ state, reason })
  })

  test('a payment whose sender is still being verified waits, and is checked again', async () => {
    const checkout = await openCheckout(person, { amount: '10000', method: 'bank' })
    const [row] = await stack.sql<{ id: string }[]>`
      select checkout_id as id from payments.payments where id = ${checkout.paymentId}`
    const { body } = recorded('payments/payment-capture-virtual-account')
    const payment_id = `py-${crypto.randomUUID()}`
    const now = new Date().toISOString()
    const payment = { ...dataOf(body), payment_id, reference_id: checkout.paymentId, created: now }
    const line = `GET /v3/payments/${payment_id}`
    const session = dataOf(recorded('payments/session-completed').body)
    stack.served.serve(line, { ...payment, ...verified('PENDING') })
    stack.served.serve(`GET /sessions/${row!.id}`, {
      ...session,
      payment_session_id: row!.id,
      payment_id,
      payment_request_id: null,
    })
    expect(await stack.deliver({ ...body, data: payment })).toEqual([])
    expect(await stateOf(checkout.paymentId)).toMatchObject({ state: 'awaiting_payment' })
    stack.served.serve(line, { ...payment, ...verified('SENDER_MATCHED') })
    await due(checkout.paymentId)
    expect(await endOf(checkout.paymentId)).toEqual({ state: 'credited', reason: null })
  })

  test.each([['NEW_WORD'], [null], [7]])(
    'a payment of status %p is stored for manual review, and its checkout stays open',
    async (status) => {
      const { paymentId, payment_id, anomalies } = await paid('10000', { status })
      expect(anomalies).toEqual([`status_unknown ${payment_id}`])
      expect(await stateOf(paymentId)).toEqual({ state: 'awaiting_payment', reason: null })
    },
  )

  test('a lookup of our own checkout that is answered 400 ends nothing and raises an alarm', async () => {
    const checkout = await openCheckout(person, {
      pair: 'USD/IDR',
      amount: '10000',
      method: 'bank',
    } as const)
    const [row] = await stack.sql<{ id: string }[]>`
      select checkout_id as id from payments.payments where id = ${checkout.paymentId}`
    const line = `GET /sessions/${row!.id}`
    stack.served.serve(line, invalid, 400)
    await due(checkout.paymentId)
    await waitUntil('the alarm', async () => {
      const kinds = (await stack.anomalies()).map(({ kind, object }) => `${kind} ${object}`)
      return kinds.includes(`look_up_refused ${checkout.paymentId}`)
    })
    expect(stack.served.asked).toContain(line)
    expect(await stateOf(checkout.paymentId)).toMatchObject({ state: 'awaiting_payment' })
  })

  /** Refunds a card payment within its hold, under these ids. */
  async function refunded(ids: (of: { payment_id: string; request: string }) => Json) {
    const request = `pr-${crypto.randomUUID()}`
    const { paymentId, payment_id } = await paid('10000', {
      channel_code: 'CARDS',
      payment_request_id: request,
    })
    await endOf(paymentId)
    stack.served.serve(`GET /v3/payment_requests/${request}`, { latest_payment_id: payment_id })
    const { body } = recorded('payments/refund-succeeded')
    const { payment_id: _, ...data } = dataOf(body)
    const id = `rfd-${crypto.randomUUID()}`
    const refund = { ...data, id, currency: 'IDR', ...ids({ payment_id, request }) }
    stack.served.serve(`GET /refunds/${id}`, refund)
    await stack.deliver({ ...body, data: refund })
    return waitUntil('the refund', async () => {
      const now = await stateOf(paymentId)
      return ['revoking', 'revoked'].includes(now.state) && now
    })
  }
  test.each([
    ['its payment request alone', ({ request }: { request: string }) => ({ payment_request_id: request })],
    [
      'its payment, and an empty payment request',
      (of: { payment_id: string }) => ({ payment_request_id: '', payment_id: of.payment_id }),
    ],
    [
      'its payment request, and an older payment of another form',
      ({ request }: { request: string }) => ({
        payment_request_id: request,
        payment_id: 'ddpy-3cd658ae-25b9-4659-aa36-596ae41a809f',
      }),
    ],
    [
      'its payment, and a payment request that the provider does not take',
      (of: { payment_id: string }) => ({
        payment_request_id: 'pr-8363892-f4d9-421c-dhdy-jdh9e30380',
        payment_id: of.payment_id,
      }),
    ],
  ] as const)('a refund that names %s revokes the top-up', async (_, ids) => {
    expect(await refunded(ids)).toMatchObject({ reason: 'refunded_during_hold' })
  })
})

describe('the list of transactions', () => {
  // The list is read once it may have our rows.
  beforeAll(() => openCheckout(person, { amount: '10000', method: 'bank' }))

  const listed = recorded('payments/transactions-list').body
  const [row] = listed.data as [Json]
  /** Serves the recorded list with today's rows. */
  const serve = (...rows: Json[]) => {
    const at = { created: new Date().toISOString(), updated: new Date().toISOString() }
    const data = rows.map((one) => ({ ...row, ...one, ...at }))
    stack.served.serve('GET /transactions', { ...listed, has_more: false, data })
  }
  const noted = (line: string) =>
    waitUntil(line, async () => {
      const lines = (await stack.anomalies()).map(({ kind, object }) => `${kind} ${object}`)
      return lines.includes(line)
    })

  test.each([
    ['a payment of another product', 'PAYMENT', 'ewc_168b969b-1cb1-42f5-a723-b02e5aef02cc'],
    ['a refund of another product', 'REFUND', 'ewr_168b969b-1cb1-42f5-a723-b02e5aef02cc'],
    ['a chargeback of another product', 'CHARGEBACK', '5f21361959ba2b788cbde0ad'],
  ])('with %s is read completely: the row is recorded', async (_, type, product_id) => {
    const id = `txn_${crypto.randomUUID()}`
    for (const path of ['/v3/payments', '/refunds']) stack.served.serve(`GET ${path}/${product_id}`, invalid, 400)
    serve({ id, type, product_id, reference_id: 'not-ours' })
    await noted(`money_unmatched ${id}`)
  })

  test('with rows of unknown types, words and formats is read completely', async () => {
    const last = `txn_${crypto.randomUUID()}`
    serve(
      { id: `txn_${crypto.randomUUID()}`, type: 'NEW_TYPE', status: 'NEW_WORD', amount: null },
      { id: `txn_${crypto.randomUUID()}`, product_id: null, reference_id: null, currency: 7 },
      { id: last, product_id: `py-${crypto.randomUUID()}`, amount: '10000', reference_id: '' },
    )
    await noted(`money_unmatched ${last}`)
    stack.served.forget('GET /transactions')
  })
})

test('an address missing from the allow-list refuses no user permanently: 503, an alarm, and the same request succeeds later', async () => {
  const error_code = 'UNAUTHORIZED_SENDER_IP'
  stack.served.serve('POST /sessions', { error_code, message: 'the IP is not allowed' }, 403)
  const quote = await person.quote('USD/IDR')
  const asked = { amount: '20000', method: 'bank', quoteId: quote.id }
  const refused = await person.post('/topups', asked)
  expect(refused.status).toBe(503)
  expect(await stack.logged('payments', error_code)).toMatchObject({ alarm: true })
  stack.served.forget('POST /sessions')
  const opened = await person.insist('/topups', asked)
  expect(opened.body).toMatchObject({ fiat: '20000' })
})

test('after the recorded payment bodies no dead letter is left and nothing is repeated', async () => {
  expect(await stack.deadLetters()).toEqual([])
  const open = await stack.sql`
    select message_id, last_error from payments.inbox where done_at is null union all
    select message_id, last_error from payouts.inbox where done_at is null`
  expect([...open]).toEqual([])
})
