import { afterAll, expect, test } from 'bun:test'
import { asker } from '#platform/bus/ask'
import { openBus } from '#platform/bus/open'
import { handler, serve } from '#platform/bus/serve'
import { pause } from '#platform/deadline'
import { openLog } from '#platform/log'
import { QuoteFind, QuoteTake } from '#shared/messages/pricing'
import { startScratchServer } from '#test/support/scratch-server'
import { waitUntil } from '#test/support/wait'

const server = await startScratchServer()
afterAll(() => server[Symbol.asyncDispose]())
const log = openLog('pricing', 'silent')
const open = (name: 'payments' | 'pricing') =>
  openBus({
    url: server.url,
    user: name,
    password: server.passwords[name],
    name,
    log,
    onFatal: () => {},
  })

const question = { quoteId: crypto.randomUUID(), requestFingerprint: 't' }

test('an instance that shuts down answers its requests and accepts no more', async () => {
  let begun = 0
  const slow = handler(QuoteFind, async () => {
    begun++
    await pause(200)
    return { refused: 'quote_unknown' }
  })
  const copy = async () => {
    const bus = await open('pricing')
    const [stats, description] = [async () => ({}), 'one of two']
    const served = await serve({ bus, name: 'pricing', description, answers: [slow], stats, log })
    return {
      stop: async () => {
        await served[Symbol.asyncDispose]()
        await bus[Symbol.asyncDispose]()
      },
    }
  }
  await using payments = await open('payments')
  const ask = asker(payments)
  const first = await copy()
  const asked = Array.from({ length: 50 }, () => ask(QuoteFind, question).catch(String))
  await waitUntil('the questions', () => begun > 0)
  const second = await copy()
  await first.stop()
  expect(await Promise.all(asked)).toEqual(asked.map(() => ({ refused: 'quote_unknown' })))
  expect(await ask(QuoteFind, question)).toEqual({ refused: 'quote_unknown' })
  await second.stop()
})

test('an instance reports its figures once, however many requests it answers', async () => {
  await using bus = await open('pricing')
  const refusal = async () => ({ refused: 'quote_unknown' }) as const
  const answers = [handler(QuoteFind, refusal), handler(QuoteTake, refusal)]
  const stats = async () => ({ waiting: 3 })
  await using _ = await serve({ bus, name: 'pricing', description: 'one', answers, stats, log })
  const operator = await server.connectAs('ops')
  const reply = await operator.request('$SRV.STATS.pricing', '', { timeout: 5_000 })
  await operator.close()
  const { endpoints } = reply.json<{ endpoints: { data?: object }[] }>()
  const data = endpoints.map((one) => one.data)
  expect(data).toEqual([{ waiting: 3, readMsAgo: expect.any(Number) }, undefined])
})

test('nats micro stats shows how long answers took, and the errors that callers got', async () => {
  await using bus = await open('pricing')
  const slow = handler(QuoteFind, async () => {
    await pause(100)
    return { refused: 'quote_unknown' }
  })
  const failing = handler(QuoteTake, async () => {
    throw new Error('no answer')
  })
  const [stats, description] = [async () => ({}), 'one']
  await using _ = await serve({ bus, name: 'pricing', description, answers: [slow, failing], stats, log })
  await using payments = await open('payments')
  const ask = asker(payments)
  await ask(QuoteFind, question)
  await ask(QuoteFind, {} as never).catch(String)
  await ask(QuoteTake, question).catch(String)
  const operator = await server.connectAs('ops')
  const reply = await operator.request('$SRV.STATS.pricing', '', { timeout: 5_000 })
  await operator.close()
  const { endpoints } = reply.json<{ endpoints: Record<string, number>[] }>()
  expect(endpoints).toMatchObject([
    { num_requests: 2, num_errors: 1, last_error: expect.stringContaining('400: ') },
    { num_requests: 1, num_errors: 1, last_error: '500: failed' },
  ])
  expect(endpoints[0]!.average_processing_time).toBeGreaterThan(45 * 1e6)
  expect(endpoints[0]!.processing_time).toBeGreaterThan(95 * 1e6)
})
