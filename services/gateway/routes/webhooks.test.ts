import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { type Call, config, errorOf, fixtureOf, webhookSecret } from '../test-support/fixture'
import { speakers } from '../test-support/identity-providers'
import { ana, nowMs, walletOf } from '../test-support/wallets'

const body = JSON.stringify({ event: 'payment.capture', data: { payment_id: 'py-1' } })
const token = { 'x-callback-token': 'token-id' }
const unknownToken = 'x-callback-token is missing or unknown'

describe('POST /webhooks/payments', () => {
  // guard: a webhook is stored once, under its sender's id
  test('records a delivery once, even if its token is rotated between attempts', async () => {
    const fixture = await fixtureOf()
    const post = async (headers: Record<string, string>, raw = body) =>
      (await fixture.call('POST', '/webhooks/payments', { raw, headers })).json()
    const first = { ...token, 'webhook-id': 'w-1' }
    expect(await post(first)).toEqual({ status: 'recorded' })
    expect(await post(first)).toEqual({ status: 'duplicate' })
    expect(await post({ ...first, 'x-callback-token': 'token-id-next' })).toEqual({
      status: 'duplicate',
    })
    expect(await post({ ...first, 'webhook-id': 'w-2' })).toEqual({ status: 'recorded' })
    expect(await post({ ...first, 'x-callback-token': 'token-my' })).toEqual({ status: 'recorded' })
    expect(await post(token)).toEqual({ status: 'recorded' })
    expect(await post(token)).toEqual({ status: 'duplicate' })
    expect(await post(token, '{}')).toEqual({ status: 'recorded' })
    expect(fixture.stored.size).toBe(5)
  })
  test('records another event under a reused webhook id', async () => {
    const fixture = await fixtureOf()
    const headers = { ...token, 'webhook-id': 'w-1' }
    const post = async (raw: string) => (await fixture.call('POST', '/webhooks/payments', { raw, headers })).json()
    const refund = JSON.stringify({ event: 'refund.succeeded', data: { id: 'rfd-1' } })
    expect(await post(body)).toEqual({ status: 'recorded' })
    expect(await post(refund)).toEqual({ status: 'recorded' })
    for (const raw of [body, refund]) expect(await post(raw)).toEqual({ status: 'duplicate' })
  })
  test('stores the event, the ids and the status, without personal data, under its own subject', async () => {
    const fixture = await fixtureOf()
    const data = { id: 'disb-1', status: 'SUCCEEDED' }
    const account = { account_number: '1234567890', account_holder_name: 'Sari Dewi' }
    const raw = JSON.stringify({ event: 'payout.succeeded', data: { ...data, ...account } })
    await fixture.call('POST', '/webhooks/payments', {
      raw,
      headers: { 'x-callback-token': 'token-my' },
    })
    const [[subject, payload]] = [...fixture.stored] as [[string, { deliveryId: string }]]
    expect(payload).toEqual({
      account: 'MY',
      deliveryId: expect.stringMatching(/^dlv_/),
      receivedAt: new Date(nowMs).toISOString(),
      body: JSON.stringify({ event: 'payout.succeeded', data }),
    } as never)
    expect(subject).toBe(`webhooks.payments.MY.payouts.${payload.deliveryId}`)
  })
  test.each<[string, Call, number, string]>([
    ['without a token', { raw: body }, 401, unknownToken],
    ['with an empty token', { raw: body, headers: { 'x-callback-token': '' } }, 401, unknownToken],
    // guard: a webhook has the token that we gave the provider
    ['with a wrong token', { raw: body, headers: { 'x-callback-token': 'token-i' } }, 401, unknownToken],
    ['with a wrong token and a body too large', { raw: 'x'.repeat(70_000) }, 401, unknownToken],
    ['with a body too large', { raw: 'x'.repeat(65_537), headers: token }, 413, 'the body is larger than 64 KiB'],
    ['without a body', { headers: token }, 400, 'the body must be a JSON object'],
    ['with a body that is no JSON', { raw: '{', headers: token }, 400, 'the body is not valid JSON'],
    ['with a list', { raw: '[]', headers: token }, 400, 'the body must be a JSON object'],
  ])('refuses a delivery %s', async (_, call, status, message) => {
    const fixture = await fixtureOf()
    const response = await fixture.call('POST', '/webhooks/payments', call)
    expect([response.status, await errorOf(response)]).toEqual([status, message])
    expect(fixture.stored.size).toBe(0)
  })
  test('accepts a body of exactly 64 KiB', async () => {
    const raw = `{"a":"${'x'.repeat(65_536 - 8)}"}`
    const response = await (await fixtureOf()).call('POST', '/webhooks/payments', {
      raw,
      headers: token,
    })
    expect([raw.length, response.status]).toEqual([65_536, 200])
  })
  // guard: a webhook that could not be stored is refused, so that it is sent again
  test('answers 503 when the delivery cannot be recorded, so that the provider retries', async () => {
    const publish = () => Promise.reject(new Error('no quorum'))
    const fixture = await fixtureOf({}, { publish })
    const response = await fixture.call('POST', '/webhooks/payments', { raw: body, headers: token })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
  })
  // guard: a token belongs to one account
  test('security: fails at startup if both accounts share a token', async () => {
    const same = { paymentsCallbackTokensId: ['same'], paymentsCallbackTokensMy: ['same'] }
    await expect(fixtureOf({}, { config: { ...config, ...same } })).rejects.toThrow(/one account only/)
  })
})

describe('POST /webhooks/identity', () => {
  const statement = {
    type: 'applicantReviewed',
    createdAtMs: '2026-11-21 06:00:00.000',
    applicantId: 'a',
    correlationId: 'c',
  }
  const signed = (raw: string, secret = webhookSecret) => ({
    'x-payload-digest': createHmac('sha256', secret).update(raw).digest('hex'),
    'x-payload-digest-alg': 'HMAC_SHA256_HEX',
  })
  const post = async (raw: string, headers: Record<string, string> = signed(raw)) => {
    const fixture = await fixtureOf()
    const send = () => fixture.call('POST', '/webhooks/identity', { raw, headers })
    return { fixture, send, response: await send() }
  }
  test('records a signed delivery once', async () => {
    const { send, response, fixture } = await post(JSON.stringify(statement))
    expect([response.status, await response.json()]).toEqual([200, { status: 'recorded' }])
    expect(await (await send()).json()).toEqual({ status: 'duplicate' })
    expect([...fixture.stored.keys()][0]).toMatch(/^webhooks\.identity\.sumsub\.dlv_/)
  })
  test('records an authentic delivery of an unknown form', async () => {
    const { response } = await post('{"something":"new"}')
    expect([response.status, await response.json()]).toEqual([200, { status: 'recorded' }])
  })
  test('security: stores no personal data from Persona', async () => {
    const speaker = speakers.find(({ name }) => name === 'persona')!
    const provider = speaker.adapter('http://127.0.0.1:9', 'sandbox')
    const fixture = await fixtureOf({}, { provider })
    const saying = { verdict: 'approved', subject: walletOf(ana), occurredAtMs: nowMs } as const
    const event = JSON.parse(speaker.say(saying, 'sandbox'))
    event.data.attributes.payload.data.attributes['name-first'] = 'Ratna'
    const raw = JSON.stringify(event)
    const headers = Object.fromEntries(speaker.sign(raw))
    const response = await fixture.call('POST', '/webhooks/identity', { raw, headers })
    expect(await response.json()).toEqual({ status: 'recorded' })
    const [payload] = [...fixture.stored.values()] as { body: string }[]
    expect(payload!.body).not.toContain('Ratna')
    expect(provider.parse(payload!.body)).toEqual(provider.parse(raw))
  })
  const refused = 'the signature of this delivery is missing or wrong'
  test.each<[string, string, Record<string, string>, number, string]>([
    ['without a signature', '{}', {}, 401, refused],
    ['signed with another secret', '{}', signed('{}', 'other'), 401, refused],
    ['signed for another body', '{ }', signed('{}'), 401, refused],
    ['that is signed but no JSON', 'x', signed('x'), 400, 'the body is not valid JSON'],
    ['that is signed but a list', '[]', signed('[]'), 400, 'the body must be a JSON object'],
    ['that is too large', 'x'.repeat(65_537), {}, 413, 'the body is larger than 64 KiB'],
  ])('refuses a delivery %s', async (_, raw, headers, status, message) => {
    const { fixture, response } = await post(raw, headers)
    expect([response.status, await errorOf(response)]).toEqual([status, message])
    expect(fixture.stored.size).toBe(0)
  })
})
