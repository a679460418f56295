import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { patienceMs, waitUntil } from '#infra/local/wait'
import { openSandboxFixture, payoutBody, type SandboxFixture, sessionBody } from '#test/support/sandbox'

let fixture: SandboxFixture
beforeEach(async () => {
  fixture = await openSandboxFixture()
})
afterEach(() => fixture[Symbol.asyncDispose]())

const pay = async () => {
  const { json } = await fixture.call('ID', '/sessions', sessionBody())
  return fixture.control(`sessions/${json.payment_session_id}/pay`)
}
type Sent = {
  id: string
  webhook_id: string
  event: string
  state: string
  attempts: { status: number; body: string }[]
}
const sent = async (event: string): Promise<Sent[]> =>
  (await fixture.book()).webhooks.filter((webhook: Sent) => webhook.event === event)
const webhookIn = (event: string, state: string) =>
  waitUntil(
    `${event} ${state}`,
    async () => (await sent(event)).find((webhook) => webhook.state === state),
    patienceMs,
    5,
  )
const onlyCaptures = { only: ['payment.capture'] }

describe('a webhook delivery', () => {
  test('a webhook delivery is retried under the same id after a refusal, and the book records every response', async () => {
    await fixture.control('faults', { webhooks: onlyCaptures })
    fixture.answers.push(503, 500)
    await pay()
    const webhook = await webhookIn('payment.capture', 'delivered')
    expect(webhook.attempts.map(({ status }) => status)).toEqual([503, 500, 200])
    expect(JSON.parse(webhook.attempts[2]!.body)).toEqual({ status: 'recorded' })
    const ids = fixture.received.map(({ headers }) => headers.get('webhook-id'))
    expect(ids).toEqual(Array(3).fill(webhook.webhook_id))
    expect(new Set(fixture.received.map(({ text }) => text)).size).toBe(1)
  })

  test('a webhook delivery ends after six retries, and can be resent by hand', async () => {
    await fixture.control('faults', { webhooks: onlyCaptures })
    fixture.answers.push(...Array(7).fill(500))
    await pay()
    const webhook = await webhookIn('payment.capture', 'exhausted')
    expect(webhook.attempts).toHaveLength(7)
    const again = await fixture.control(`webhooks/${webhook.id}/resend`)
    expect(again.json).toMatchObject({ state: 'delivered', webhook_id: webhook.webhook_id })
    expect(again.json.attempts).toHaveLength(8)
  })

  test('a webhook delivery has the token of its account', async () => {
    const my = sessionBody({ country: 'MY', currency: 'MYR', amount: 5.5 })
    const { json } = await fixture.call('MY', '/sessions', my)
    await fixture.control(`sessions/${json.payment_session_id}/pay`)
    const [capture] = await fixture.events('payment.capture')
    expect(capture?.headers.get('x-callback-token')).toBe('token-my')
    expect(capture?.json.data).toMatchObject({ currency: 'MYR', request_amount: 5.5 })
  })
})

describe('webhook faults', () => {
  test('webhook faults can drop every delivery, which the book records', async () => {
    await fixture.control('faults', { webhooks: { drop: 1 } })
    await pay()
    const { webhooks } = await fixture.book()
    expect(webhooks.map(({ state }: Sent) => state)).toEqual(['dropped', 'dropped'])
    expect(fixture.received).toEqual([])
  })

  test.each([
    [{ duplicate: 1 }, 2, 1],
    [{ times: 5, reorder: true }, 5, 1],
    [{ times: 3, newIds: true }, 3, 3],
  ])('webhook faults %o make %i deliveries under %i ids', async (fault, copies, ids) => {
    await fixture.control('faults', { webhooks: { ...onlyCaptures, ...fault } })
    await pay()
    const captures = await fixture.events('payment.capture', copies)
    expect(captures).toHaveLength(copies)
    const seen = captures.map(({ headers }) => headers.get('webhook-id'))
    expect(new Set(seen).size).toBe(ids)
    expect(await sent('payment_session.completed')).toMatchObject([{ state: 'dropped' }])
  })

  test('webhook faults follow a seed', async () => {
    const outcomes = async () => {
      await fixture.control('faults', { webhooks: { drop: 0.5 }, seed: 7 })
      const before = (await fixture.book()).webhooks.length
      for (let count = 0; count < 6; count++) await pay()
      return (await fixture.book()).webhooks
        .slice(before)
        .map((webhook: Sent) => `${webhook.event} ${webhook.state === 'dropped'}`)
    }
    const first = await outcomes()
    expect(await outcomes()).toEqual(first)
    expect(new Set(first).size).toBeGreaterThan(1)
  })

  test('webhook faults replace a section as a whole, keep the other, and end with an empty change', async () => {
    await fixture.control('faults', { webhooks: { times: 5 }, api: { errorRate: 0.5 } })
    const { json } = await fixture.control('faults', { webhooks: { drop: 0.5 } })
    expect(json).toMatchObject({ webhooks: { times: 1, drop: 0.5 }, api: { errorRate: 0.5 } })
    const calm = (await fixture.control('faults', {})).json
    expect(calm).toMatchObject({ webhooks: { drop: 0 }, api: { errorRate: 0 } })
  })

  test('webhook faults are refused if unknown, and then nothing changes', async () => {
    const before = (await fixture.ask('/control/faults')).json
    const wrong = { webhooks: { drop: 2, lose: 1 }, api: { errorRate: 1 } }
    const { status, json } = await fixture.control('faults', wrong)
    expect(status).toBe(400)
    expect(json.error).toContain('webhooks.drop must be a probability')
    expect(json.error).toContain('webhooks.lose is not a fault')
    expect((await fixture.ask('/control/faults')).json).toEqual(before)
  })
})

describe('API faults', () => {
  test.each([
    [{ errorRate: 1 }, 500, 'SERVER_ERROR', 0],
    [{ errorAfterAccept: 1 }, 500, 'SERVER_ERROR', 1],
    [{ rateLimitRate: 1 }, 429, 'RATE_LIMIT_EXCEEDED', 0],
  ])('the API fault %o returns %i %s and leaves %i payouts', async (api, status, error_code, payouts) => {
    await fixture.control('faults', { api })
    const headers = { 'idempotency-key': 'k' }
    const answer = await fixture.call('ID', '/v2/payouts', payoutBody(), headers)
    expect(answer).toMatchObject({ status, json: { error_code } })
    expect((await fixture.book()).payouts).toHaveLength(payouts)
  })

  test('API faults can accept a request and not respond', async () => {
    await fixture.control('faults', { api: { timeoutAfterAccept: 1 } })
    const hanging = new AbortController()
    const asked = fixture.ask('/v2/payouts', {
      method: 'POST',
      body: JSON.stringify(payoutBody()),
      headers: { authorization: `Basic ${btoa('key-id:')}`, 'idempotency-key': 'k' },
      signal: AbortSignal.any([hanging.signal, AbortSignal.timeout(60_000)]),
    })
    const said = asked.then(
      () => 'an answer',
      () => 'nothing',
    )
    await waitUntil('the payout', async () => (await fixture.book()).payouts.length === 1)
    hanging.abort()
    expect(await said).toBe('nothing')
  })

  test('API faults can capture a smallest unit too little', async () => {
    await fixture.control('faults', { api: { wrongAmount: 1 } })
    const { json } = await pay()
    expect(json).toMatchObject({
      request_amount: 150_000,
      captures: [{ capture_amount: 149_999 }],
    })
  })
})
