import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Person } from '#infra/demo/person'
import { waitUntil } from '#infra/local/wait'
import { verifiedUser } from '../support/people'
import { openCheckout } from '../support/requests'
import { concerned, openRecorded, type RecordedStack } from './fixture'
import { recorded } from './served'

// Every field of every recorded body is absent, null, empty, of another type or unknown in turn. Each body ends in the
// right state or in an anomaly; none is dead-lettered or repeated permanently.

let stack: RecordedStack
let person: Person
beforeAll(async () => {
  stack = await openRecorded()
  person = await verifiedUser(stack.stack)
})
afterAll(() => stack?.[Symbol.asyncDispose]())

type Json = Record<string, unknown>
const names = readdirSync(join(import.meta.dir, 'payments')).map((file) => `payments/${file.replace('.json', '')}`)
const oddValues = [undefined, null, '', 'NOBODY_KNOWS', 7, true, {}, [null]]

/** Yields malformed bodies; `deep` enters objects. */
function* oddOnes(body: Json, deep = true): Generator<{ what: string; body: Json }> {
  for (const key of Object.keys(body)) {
    for (const value of oddValues) yield { what: `${key} ${JSON.stringify(value)}`, body: { ...body, [key]: value } }
    const inner = body[key]
    if (!deep || typeof inner !== 'object' || inner === null || Array.isArray(inner)) continue
    for (const one of oddOnes(inner as Json)) yield { what: `${key}.${one.what}`, body: { ...body, [key]: one.body } }
  }
  yield { what: 'a new field', body: { ...body, nobody_knows: { at: [1.5, null] } } }
}

/** Delivers bodies in parallel and waits until the services are done. */
async function deliverAll(bodies: readonly Json[]): Promise<void> {
  const ids: string[] = []
  for (let at = 0; at < bodies.length; at += 20) {
    const some = bodies.slice(at, at + 20)
    ids.push(...(await Promise.all(some.map((one) => stack.post(one, 'ID', crypto.randomUUID())))))
  }
  await waitUntil('all deliveries being done with', async () => {
    const done = await stack.sql<{ message_id: string }[]>`
        select message_id from payments.inbox where done_at is not null and message_id in ${stack.sql(ids)}
        union all
        select message_id from payouts.inbox where done_at is not null and message_id in ${stack.sql(ids)}`
    return done.length === bodies.reduce((sum, one) => sum + concerned(one), 0)
  })
}

test.each(names)('%s as a webhook with any malformed field is handled', async (name) => {
  const { body } = recorded(name)
  await deliverAll([...oddOnes(body)].map((one) => one.body))
  expect(await stack.deadLetters()).toEqual([])
})

describe('an object of the provider with any malformed field', () => {
  const data = (name: string) => recorded(`payments/${name}`).body.data as Json
  const idOf = (prefix: string) => `${prefix}-${crypto.randomUUID()}`

  const serveAll = (event: string, path: string, key: string, prefix: string, object: Json) => {
    const bodies: Json[] = []
    for (const { what, body } of oddOnes(object)) {
      // A response about another object proves nothing, so the webhook would be retried.
      if (what === `${key} "NOBODY_KNOWS"`) continue
      const id = idOf(prefix)
      stack.served.serve(`GET ${path}/${id}`, body[key] === object[key] ? { ...body, [key]: id } : body)
      bodies.push({ event, data: { [key]: id } })
    }
    return bodies
  }
  const refund = (recorded('payments/refund-succeeded').body.data as Json).data as Json
  test.each([
    ['payment', () => serveAll('payment.capture', '/v3/payments', 'payment_id', 'py', data('payment-capture-card'))],
    [
      'session',
      () => serveAll('payment_session.completed', '/sessions', 'payment_session_id', 'ps', data('session-completed')),
    ],
    ['refund', () => serveAll('refund.succeeded', '/refunds', 'id', 'rfd', { ...refund, currency: 'IDR' })],
    ['payout', () => serveAll('payout.succeeded', '/v2/payouts', 'id', 'disb', data('payout-succeeded-v2'))],
    ['payout of v3', () => serveAll('v3_payout.failed', '/v3/payouts', 'payout_id', 'po', data('payout-succeeded-v3'))],
  ])('of a %s that is not ours is handled', async (_, bodies) => {
    await deliverAll(bodies())
    expect(await stack.deadLetters()).toEqual([])
  })

  test('of our payment moves it, or raises an alarm', async () => {
    const { created, updated, ...payment } = data('payment-capture-virtual-account')
    const object = { ...payment, captures: [{ capture_id: 'cap-1', capture_amount: 10_000 }] }
    const unmoved: string[] = []
    const isAboutIt = (what: string) => !what.startsWith('reference_id') && what !== 'payment_id "NOBODY_KNOWS"'
    const cases = [...oddOnes(object, false)].filter(({ what }) => isAboutIt(what))
    for (const { what, body } of cases) {
      const order = { pair: 'USD/IDR', amount: '10000', method: 'bank' } as const
      const checkout = await openCheckout(person, order)
      const id = idOf('py')
      const at = new Date().toISOString()
      stack.served.serve(`GET /v3/payments/${id}`, {
        ...body,
        payment_id: (body as Json).payment_id === payment.payment_id ? id : (body as Json).payment_id,
        reference_id: checkout.paymentId,
        created: at,
      })
      const anomalies = await stack.deliver({ event: 'payment.capture', data: { payment_id: id } })
      const rows = await stack.sql<{ state: string }[]>`
        select state from payments.payments where id = ${checkout.paymentId}`
      if (rows[0]!.state === 'awaiting_payment' && anomalies.length === 0) unmoved.push(what)
    }
    expect(unmoved).toEqual([])
    expect(cases.length).toBeGreaterThan(80)
  })
})

describe('a refused lookup of an object', () => {
  test.each([
    ['404 as documented', 404, { error_code: 'NOT_FOUND', message: 'Session not found' }],
    ['404 with an unknown code', 404, { error_code: 'SESSION_GONE', message: '' }],
    ['400 with errors', 400, { error_code: 'API_VALIDATION_ERROR', message: '', errors: [{ path: '/' }] }],
    ['400 with errors as text', 400, { error_code: 'INVALID_ID', errors: ['id'], message: null }],
    ['400 without a code', 400, { message: 'Bad Request', statusCode: 400 }],
    ['400 in the words of the older reference', 400, { error_code: 'X', error_message: 'no' }],
    ['422', 422, { error_code: 'UNPROCESSABLE', message: '' }],
    ['410', 410, {}],
  ])('that is %s is recorded', async (_, status, body) => {
    const id = `ps-${crypto.randomUUID()}`
    stack.served.serve(`GET /sessions/${id}`, body, status)
    const event = { event: 'payment_session.expired', data: { payment_session_id: id } }
    expect(await stack.deliver(event)).toEqual([`object_unknown ${id}`])
  })

  test.each([
    ['401', 401, { error_code: 'INVALID_API_KEY', message: 'API key is not authorized for this API' }],
    ['403', 403, { error_code: 'REQUEST_FORBIDDEN_ERROR', message: '' }],
    ['429', 429, { error_code: 'RATE_LIMIT_EXCEEDED', message: '' }],
    ['500', 500, { error_code: 'SERVER_ERROR', message: '' }],
    ['a page of a proxy', 502, '<html>'],
  ])('about our key or a temporary fault (%s) proves nothing and is repeated', async (_, status, body) => {
    const id = `rfd-${crypto.randomUUID()}`
    const line = `GET /refunds/${id}`
    stack.served.serve(line, body, status)
    const delivering = stack.deliver({ event: 'refund.succeeded', data: { id } })
    await waitUntil('its being asked for', async () => stack.served.asked.includes(line))
    stack.served.serve(line, { error_code: 'DATA_NOT_FOUND', message: '' }, 404)
    expect(await delivering).toEqual([`object_unknown ${id}`])
  })
})

test('after malformed payment bodies no dead letter is left and nothing is repeated', async () => {
  expect(await stack.deadLetters()).toEqual([])
  const open = await stack.sql`
    select message_id, last_error from payments.inbox where done_at is null union all
    select message_id, last_error from payouts.inbox where done_at is null`
  expect([...open]).toEqual([])
})
