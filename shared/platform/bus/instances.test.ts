import { afterAll, describe, expect, test } from 'bun:test'
import { asker, Unavailable } from '#platform/bus/ask'
import { askEverybody, countInstances, findInstances } from '#platform/bus/instances'
import { openBus } from '#platform/bus/open'
import { handler, serve } from '#platform/bus/serve'
import { DeadlinePassed, pause } from '#platform/deadline'
import { openLog } from '#platform/log'
import { metricsSubject } from '#platform/metrics/answer'
import { QuoteFind } from '#shared/messages/pricing'
import { type ProcessName, processNames } from '#shared/messages/topic'
import { startScratchServer } from '#test/support/scratch-server'
import { waitUntil } from '#test/support/wait'

const server = await startScratchServer()
afterAll(() => server[Symbol.asyncDispose]())
const log = openLog('pricing', 'silent')
const open = (name: ProcessName, { url, passwords } = server) =>
  openBus({
    url,
    user: name,
    password: passwords[name],
    name,
    log,
    onFatal: () => {},
  })

const question = { quoteId: crypto.randomUUID(), requestFingerprint: 't' }
const unknown = { refused: 'quote_unknown' } as const

async function openCopy(answersAfterMs = 0, on = server) {
  const bus = await open('pricing', on)
  let asked = 0
  const find = handler(QuoteFind, async () => {
    asked++
    await pause(answersAfterMs)
    return unknown
  })
  const [stats, description] = [async () => ({}), 'one of several']
  const served = await serve({ bus, name: 'pricing', description, answers: [find], stats, log })
  return {
    bus,
    asked: () => asked,
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]()
      await bus[Symbol.asyncDispose]()
    },
  }
}

/** Opens an instance as others see a frozen one: in the queue group, and silent. */
async function openFrozen() {
  const bus = await open('pricing')
  let taken = 0
  bus.nc.subscribe(QuoteFind.subject, { queue: 'q', callback: () => void taken++ })
  await bus.nc.flush()
  return { taken: () => taken, [Symbol.asyncDispose]: bus[Symbol.asyncDispose] }
}

describe('a request', () => {
  test('taken by a frozen instance is answered by another, long before its deadline', async () => {
    await using payments = await open('payments')
    await using frozen = await openFrozen()
    await using copy = await openCopy()
    const ask = asker(payments)
    const startedAt = performance.now()
    const asked = Array.from({ length: 20 }, () => ask(QuoteFind, question, 20_000))
    expect(await Promise.all(asked)).toEqual(asked.map(() => unknown))
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect(frozen.taken()).toBeGreaterThan(0)
    expect(copy.asked()).toBe(20)
  })

  test('that an instance works on, however slowly, goes to no other instance', async () => {
    await using payments = await open('payments')
    await using copies = new AsyncDisposableStack()
    const slow = [copies.use(await openCopy(1_500)), copies.use(await openCopy(1_500))]
    expect(await asker(payments)(QuoteFind, question)).toEqual(unknown)
    expect(slow.reduce((sum, copy) => sum + copy.asked(), 0)).toBe(1)
  })

  test('taken by an instance that died is answered by another', async () => {
    await using payments = await open('payments')
    const dying = await openCopy(60_000)
    const asked = asker(payments)(QuoteFind, question, 60_000)
    await waitUntil('the question', () => dying.asked() === 1)
    await dying.bus[Symbol.asyncDispose]()
    await using copy = await openCopy()
    expect(await asked).toEqual(unknown)
    expect(copy.asked()).toBe(1)
  })

  test('to a service without instances is known to be handled by none', async () => {
    await using payments = await open('payments')
    await expect(asker(payments)(QuoteFind, question)).rejects.toThrow(Unavailable)
  })

  test('with a short deadline fails if the only instance is frozen, and not while one works on it', async () => {
    await using payments = await open('payments')
    const ask = asker(payments)
    const hurried = () => ask(QuoteFind, question, { deadlineMs: 20_000, quietMs: 80 })
    const frozen = await openFrozen()
    const startedAt = performance.now()
    await expect(hurried()).rejects.toBeInstanceOf(DeadlinePassed)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    await frozen[Symbol.asyncDispose]()
    await using _slow = await openCopy(1_000)
    // An instance that reports its presence late counts as frozen, so another one gets the request.
    expect(await waitUntil('an answer', hurried)).toEqual(unknown)
  })

  test('that may not be repeated waits for the instance that has it', async () => {
    await using payments = await open('payments')
    await using frozen = await openFrozen()
    const { repeat: _, ...once } = QuoteFind
    const answer = asker(payments)(once, question, 1_500)
    const refused = expect(answer).rejects.toThrow('did not answer within')
    await waitUntil('the question', () => frozen.taken() === 1)
    await using copy = await openCopy()
    await refused
    expect(copy.asked()).toBe(0)
  })
})

describe('the instances of a service', () => {
  test('count each other, and notice arrivals and departures', async () => {
    await using first = await openCopy()
    await using counted = await countInstances(first.bus, 'pricing', log)
    expect(counted.count()).toBe(1)
    const looksAgain = ({ poke, count }: typeof counted, wanted: number) =>
      waitUntil(`${wanted} copies`, () => {
        poke()
        return count() === wanted
      })
    const second = await openCopy()
    await using alsoCounted = await countInstances(second.bus, 'pricing', log)
    await looksAgain(alsoCounted, 2)
    await looksAgain(counted, 2)
    await second[Symbol.asyncDispose]()
    await looksAgain(counted, 1)
  })

  test('keep their last count while the bus is away, so that none takes a whole budget', async () => {
    const gone = await startScratchServer()
    await using buses = new AsyncDisposableStack()
    const [first, second] = [buses.use(await openCopy(0, gone)), buses.use(await openCopy(0, gone))]
    await using counted = await countInstances(first.bus, 'pricing', log)
    expect(counted.count()).toBe(2)
    await gone.stop()
    for (let round = 0; round < 3; round++) {
      counted.poke()
      expect(await findInstances(second.bus, 'pricing', { withinMs: 400 })).toEqual([])
    }
    expect(counted.count()).toBe(2)
    await gone.start()
    await waitUntil('the bus', async () => (await findInstances(second.bus, 'pricing', { withinMs: 400 })).length === 2)
    await gone[Symbol.asyncDispose]()
  })
})

test('a request to all processes waits for each, even if operations responds long after the services', async () => {
  await using buses = new AsyncDisposableStack()
  for (const name of processNames) {
    const { nc } = buses.use(await open(name))
    nc.subscribe(metricsSubject, {
      callback: async (_, message) => {
        if (name === 'operations') await pause(500)
        message.respond(name)
      },
    })
    await nc.flush()
  }
  const gateway = buses.use(await open('gateway'))
  const names = await askEverybody(gateway, metricsSubject, (reply) => {
    const name = reply.string()
    return { from: name, answer: name }
  })
  expect(names.toSorted()).toEqual([...processNames].sort())
})
