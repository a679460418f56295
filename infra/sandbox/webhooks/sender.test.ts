import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { waitUntil } from '#infra/local/wait'
import { openStand, payoutBody, type Stand, sessionBody } from '../stand.ts'

let stand: Stand
beforeEach(async () => {
  stand = await openStand()
})
afterEach(() => stand[Symbol.asyncDispose]())

const pay = async () => {
  const { json } = await stand.call('ID', '/sessions', sessionBody())
  return stand.control(`sessions/${json.payment_session_id}/pay`)
}
type Sent = {
  id: string
  webhook_id: string
  event: string
  state: string
  attempts: { status: number; body: string }[]
}
const sent = async (event: string): Promise<Sent[]> =>
  (await stand.book()).webhooks.filter((webhook: Sent) => webhook.event === event)
const settled = (event: string, state: string) =>
  waitUntil(
    `${event} ${state}`,
    async () => (await sent(event)).find((webhook) => webhook.state === state),
    5_000,
    5,
  )
const onlyCaptures = { only: ['payment.capture'] }

describe('a delivery', () => {
  test('that is refused comes again under the same id, and the book keeps every answer', async () => {
    await stand.control('faults', { webhooks: onlyCaptures })
    stand.answers.push(503, 500)
    await pay()
    const webhook = await settled('payment.capture', 'delivered')
    expect(webhook.attempts.map(({ status }) => status)).toEqual([503, 500, 200])
    expect(JSON.parse(webhook.attempts[2]!.body)).toEqual({ status: 'recorded' })
    const ids = stand.received.map(({ headers }) => headers.get('webhook-id'))
    expect(ids).toEqual(Array(3).fill(webhook.webhook_id))
    expect(new Set(stand.received.map(({ text }) => text)).size).toBe(1)
  })

  test('is given up after six retries, and can still be sent again by hand', async () => {
    await stand.control('faults', { webhooks: onlyCaptures })
    stand.answers.push(...Array(7).fill(500))
    await pay()
    const webhook = await settled('payment.capture', 'exhausted')
    expect(webhook.attempts).toHaveLength(7)
    const again = await stand.control(`webhooks/${webhook.id}/resend`)
    expect(again.json).toMatchObject({ state: 'delivered', webhook_id: webhook.webhook_id })
    expect(again.json.attempts).toHaveLength(8)
  })

  test('carries the token of its account', async () => {
    const my = sessionBody({ country: 'MY', currency: 'MYR', amount: 5.5 })
    const { json } = await stand.call('MY', '/sessions', my)
    await stand.control(`sessions/${json.payment_session_id}/pay`)
    const [capture] = await stand.events('payment.capture')
    expect(capture?.headers.get('x-callback-token')).toBe('token-my')
    expect(capture?.json.data).toMatchObject({ currency: 'MYR', request_amount: 5.5 })
  })
})

describe('faults of webhooks', () => {
  test('drop everything, and the book says so', async () => {
    await stand.control('faults', { webhooks: { drop: 1 } })
    await pay()
    const { webhooks } = await stand.book()
    expect(webhooks.map(({ state }: Sent) => state)).toEqual(['dropped', 'dropped'])
    expect(stand.received).toEqual([])
  })

  test.each([
    [{ duplicate: 1 }, 2, 1],
    [{ times: 5, reorder: true }, 5, 1],
    [{ times: 3, newIds: true }, 3, 3],
  ])('%o: %i copies under %i ids', async (fault, copies, ids) => {
    await stand.control('faults', { webhooks: { ...onlyCaptures, ...fault } })
    await pay()
    const captures = await stand.events('payment.capture', copies)
    expect(captures).toHaveLength(copies)
    const seen = captures.map(({ headers }) => headers.get('webhook-id'))
    expect(new Set(seen).size).toBe(ids)
    expect(await sent('payment_session.completed')).toMatchObject([{ state: 'dropped' }])
  })

  test('follow a seed', async () => {
    const outcomes = async () => {
      await stand.control('faults', { webhooks: { drop: 0.5 }, seed: 7 })
      const before = (await stand.book()).webhooks.length
      for (let count = 0; count < 6; count++) await pay()
      return (await stand.book()).webhooks
        .slice(before)
        .map((webhook: Sent) => `${webhook.event} ${webhook.state === 'dropped'}`)
    }
    const first = await outcomes()
    expect(await outcomes()).toEqual(first)
    expect(new Set(first).size).toBeGreaterThan(1)
  })

  test('a named section is replaced, another stays, and an empty change ends all', async () => {
    await stand.control('faults', { webhooks: { times: 5 }, api: { errorRate: 0.5 } })
    const { json } = await stand.control('faults', { webhooks: { drop: 0.5 } })
    expect(json).toMatchObject({ webhooks: { times: 1, drop: 0.5 }, api: { errorRate: 0.5 } })
    const calm = (await stand.control('faults', {})).json
    expect(calm).toMatchObject({ webhooks: { drop: 0 }, api: { errorRate: 0 } })
  })

  test('refuse what is no fault, and then nothing changes', async () => {
    const before = (await stand.ask('/control/faults')).json
    const wrong = { webhooks: { drop: 2, lose: 1 }, api: { errorRate: 1 } }
    const { status, json } = await stand.control('faults', wrong)
    expect(status).toBe(400)
    expect(json.error).toContain('webhooks.drop must be a probability')
    expect(json.error).toContain('webhooks.lose is not a fault')
    expect((await stand.ask('/control/faults')).json).toEqual(before)
  })
})

describe('faults of the interface', () => {
  test.each([
    [{ errorRate: 1 }, 500, 'SERVER_ERROR', 0],
    [{ errorAfterAccept: 1 }, 500, 'SERVER_ERROR', 1],
    [{ rateLimitRate: 1 }, 429, 'RATE_LIMIT_EXCEEDED', 0],
  ])('%o answers %i %s and leaves %i payouts', async (api, status, error_code, payouts) => {
    await stand.control('faults', { api })
    const headers = { 'idempotency-key': 'k' }
    const answer = await stand.call('ID', '/v2/payouts', payoutBody(), headers)
    expect(answer).toMatchObject({ status, json: { error_code } })
    expect((await stand.book()).payouts).toHaveLength(payouts)
  })

  test('accepts and then says nothing', async () => {
    await stand.control('faults', { api: { timeoutAfterAccept: 1 } })
    const asked = stand.ask('/v2/payouts', {
      method: 'POST',
      body: JSON.stringify(payoutBody()),
      headers: { authorization: `Basic ${btoa('key-id:')}`, 'idempotency-key': 'k' },
      signal: AbortSignal.timeout(200),
    })
    await expect(asked).rejects.toThrow()
    expect((await stand.book()).payouts).toHaveLength(1)
  })

  test('captures a smallest unit too little', async () => {
    await stand.control('faults', { api: { wrongAmount: 1 } })
    const { json } = await pay()
    expect(json).toMatchObject({
      request_amount: 150_000,
      captures: [{ capture_amount: 149_999 }],
    })
  })
})
