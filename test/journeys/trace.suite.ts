import { beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { originOf } from '#platform/tracing/origin'
import { groupStack } from '../runner/group'
import { verifiedUser } from '../support/people'
import { answered, cashoutBody, entryIn } from '../support/requests'
import type { Span } from '../support/telemetry/collector'
import { collector } from './external'

let stack: Stack
let person: Person
beforeAll(async () => {
  stack = groupStack()
  person = await verifiedUser(stack, { ausdMicro: 30_000_000n })
})

/** Tops up, with headers of its own for each try. Returns the id of the successful request. */
async function topUp(headersOf: () => Record<string, string> = () => ({})) {
  const reply = await answered(async () => {
    const { id: quoteId } = await person.quote('USD/IDR')
    const body = { quoteId, amount: '50000', method: 'qr' }
    return person.call('POST', '/topups', body, headersOf())
  })
  expect(reply.status).toBe(200)
  await outsideOf(stack.info).pay(reply.body.paymentId, 'QRIS')
  await entryIn(person, reply.body.paymentId, 'credited')
  return reply.headers.get('x-request-id')!
}

const way = [
  ['gateway', 'POST /topups'],
  ['gateway', 'ask payments.topup.create'],
  ['payments', 'answer payments.topup.create'],
  ['pricing', 'answer pricing.quote.take'],
  ['payments', 'postgres transaction'],
  ['payments', 'provider POST /sessions'],
  ['payments', 'handle webhooks.payments.>'],
  ['payments', 'topup paid'],
  ['payments', 'publish relay.credit'],
  ['chain-relayer', 'handle relay.credit'],
  ['chain-relayer', 'transaction from first attempt to final'],
  ['chain-relayer', 'publish relay.credit.settled'],
  ['payments', 'handle relay.credit.settled'],
  ['payments', 'topup credited'],
] as const
const names = way.map(([, name]) => name)
const randomHex = (bytes: number) => randomBytes(bytes).toString('hex')

describe("one top-up is one trace, the caller's", () => {
  let callers: { traceId: string; spanId: string }
  let spans: Span[]
  const spanOf = (name: string) => spans.find((span) => span.name === name)!
  beforeAll(async () => {
    await topUp(() => {
      callers = { traceId: randomHex(16), spanId: randomHex(8) }
      return { traceparent: `00-${callers.traceId}-${callers.spanId}-01` }
    })
    spans = await collector.whole(callers.traceId, names)
  })

  test.each(way)('%s: %s', (service, name) => {
    expect(spans.some((span) => span.service === service && span.name === name)).toBe(true)
  })

  test("each span has a parent in the trace, and the first one is a child of the caller's span", () => {
    const ids = new Set(spans.map(({ spanId }) => spanId))
    const hanging = spans.filter(({ parentSpanId = '' }) => !ids.has(parentSpanId))
    expect(hanging.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([['POST /topups', callers.spanId]])
  })

  test('the effects of a webhook link to the trace of that webhook', async () => {
    const [link] = spanOf('topup paid').links ?? []
    expect(spanOf('topup paid').parentSpanId).toBe(spanOf('handle webhooks.payments.>').spanId)
    const delivery = await collector.whole(link!.traceId, ['POST /webhooks/payments'])
    expect(delivery.map(({ name }) => name)).toContain('handle webhooks.payments.>')
    expect(link!.traceId).not.toBe(callers.traceId)
  })

  test("security: no span contains a wallet, a signature or a payer's name", () => {
    const said = JSON.stringify(collector.spans).toLowerCase()
    for (const word of [person.wallet, 'bearer', 'signature', 'xnd_']) expect(said).not.toContain(word.toLowerCase())
  })
})

test("a top-up without a caller's span has its own trace, named by its request", async () => {
  const { traceId } = originOf(await topUp())
  const spans = await collector.whole(traceId, names)
  const first = spans.filter(({ parentSpanId }) => !parentSpanId)
  expect(first.map(({ name }) => name)).toEqual(['POST /topups'])
})

test('a cash-out continues in its trace after the chain and after the bank', async () => {
  const reply = await answered(async () => person.post('/cashouts', await cashoutBody(stack, person)))
  await entryIn(person, reply.body.payoutId, 'paid')
  const { traceId } = originOf(reply.headers.get('x-request-id')!)
  await collector.whole(traceId, [
    'POST /cashouts',
    'answer chain.authorization.check',
    'take from order to final',
    'handle relay.take.settled',
    'cashout taken checked',
    'provider POST /v2/payouts',
    'handle webhooks.payments.>',
    'cashout succeeded at the bank',
    'publish payouts.paid',
  ])
})

test('log lines contain the trace id', async () => {
  const requestId = await topUp()
  const lines = readFileSync(join(stack.dir, 'logs/payments.log'), 'utf8').split('\n')
  const own = lines.filter((line) => line.includes(`"requestId":"${requestId}"`))
  expect(own.length).toBeGreaterThan(0)
  for (const line of own) expect(line).toContain(`"traceId":"${originOf(requestId).traceId}"`)
})
