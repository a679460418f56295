import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { openLogFilter, sequenceIn } from '#test/support/engines/rpc-filter'
import { openRpcProxy } from '#test/support/rpc-proxy'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { waitUntil } from '#test/support/wait'
import type { Context } from './context'
import { cursors, liveCursors } from './cursor.store'
import { sequenceOf } from './event'
import { historyOf } from './record'
import { loadRecords } from './record.store'
import {
  ana,
  askRecord,
  ausd,
  openTestChain,
  openTestDatabase,
  playMore,
  playStory,
  standingOf,
  startReader,
  type TestChain,
} from './test-support'

let postgres: ScratchPostgres
let chain: TestChain
let filters: ReturnType<typeof openLogFilter>[]
let store: Awaited<ReturnType<typeof openTestDatabase>>
let running: ReturnType<typeof startReader>

beforeAll(async () => {
  ;[postgres, chain] = await Promise.all([startScratchPostgres(), openTestChain()])
  await playStory(chain)
})
afterAll(async () => {
  await Promise.all([postgres[Symbol.asyncDispose](), chain.close()])
})

let suffix = 0
beforeEach(async () => {
  filters = [openLogFilter(chain.rpcUrl), openLogFilter(chain.rpcUrl)]
  store = await openTestDatabase(postgres, `missing_${++suffix}`)
})
afterEach(async () => {
  await running?.stop()
  await store.database[Symbol.asyncDispose]()
  for (const filter of filters) await filter[Symbol.asyncDispose]()
})

/** Starts a reader whose first endpoint omits logs. */
const start = (omits: (typeof filters)[0]['omits'], endpoints = 1) => {
  filters[0]!.omits = omits
  const rpcUrls = filters.slice(0, endpoints).map(({ url }) => url)
  running = startReader({ database: store.database, chain, rpcUrls })
  return running.context
}

const cursor = async () => (await store.database.read(liveCursors))[0]

const untilAgreed = async (context: Context) => {
  const standing = await standingOf(chain, ana)
  const { open, closed } = standing
  const history = historyOf(standing, open ? [...closed, open] : closed)
  await waitUntil('the record', async () => {
    const answer = await askRecord(context, ana)
    return 'ok' in answer && Bun.deepEquals(answer.ok.history, history)
  })
  const sequence = await chain.sequence()
  await waitUntil('the sequence', async () => (await cursor())!.sequence === sequence)
}

const sequenceOfLast = async (name: string) =>
  sequenceOf((await chain.eventsOf(ana)).findLast((event) => event.name === name)!)

describe('a log that an endpoint omits', () => {
  test.each([
    ['in the middle', () => sequenceOfLast('CycleClosed')],
    ['of all wallets', () => sequenceOfLast('YieldAdded')],
    ['at the end', () => chain.sequence()],
    ['at the beginning', async () => 1],
  ])('%s keeps the record refused, and whole once it comes', async (_what, sequenceToOmit) => {
    const omitted = await sequenceToOmit()
    const context = start((log) => sequenceIn(log) === omitted)
    const missed = () => context.figures.lastError === `event ${omitted} is missing`
    await waitUntil('the gap being noticed', () => context.figures.incomplete > 2 && missed())
    expect(await askRecord(context, ana)).toEqual({ refused: 'indexer_lags' })
    expect((await cursor())!.sequence).toBeLessThan(omitted)
    filters[0]!.omits = () => false
    await untilAgreed(context)
  })

  test('once is read again at once, and never refused', async () => {
    const context = start(() => false)
    await untilAgreed(context)
    const before = context.figures.incomplete
    let omitted = 0
    filters[0]!.omits = () => omitted++ === 0
    const answers: object[] = []
    await playMore(chain, 1)
    await waitUntil('the gap being noticed', async () => {
      answers.push(await askRecord(context, ana))
      return context.figures.incomplete > before
    })
    await untilAgreed(context)
    for (const answer of answers) expect(answer).toHaveProperty('ok')
  })

  test('makes a reader that served refuse, until it comes', async () => {
    const context = start(() => false)
    await untilAgreed(context)
    const omitted = (await chain.sequence()) + 1
    filters[0]!.omits = (log) => sequenceIn(log) === omitted
    await playMore(chain, 1)
    await waitUntil('a refusal', async () => 'refused' in (await askRecord(context, ana)))
    filters[0]!.omits = () => false
    await untilAgreed(context)
  })

  test('is read from the other endpoint', async () => {
    const context = start(() => true, 2)
    await untilAgreed(context)
    expect(context.figures.endpoint).toBe(new URL(filters[1]!.url).host)
  })

  test('in a block that counted as read is found by the next event', async () => {
    const context = start(() => false)
    await untilAgreed(context)
    await running.stop()
    await playMore(chain, 1)
    // The rows look as if an endpoint had answered the old sequence at a newer block.
    const head = await chain.client.getBlock({ blockTag: 'finalized' })
    await store.database.run((db) => db.update(cursors).set({ blockNumber: Number(head.number), blockHash: head.hash }))
    await playMore(chain, 1)
    await untilAgreed(start(() => false))
  })
})

describe('the reader', () => {
  test('reads no logs and calls the contract once a block while there is no event', async () => {
    const proxy = openRpcProxy({ target: chain.rpcUrl })
    running = startReader({ database: store.database, chain, rpcUrls: [proxy.url] })
    await untilAgreed(running.context)
    const before = { ...proxy.journal.calls }
    const logs = before.eth_getLogs
    const first = running.context.figures.finalized!
    for (let block = 1; block <= 10; block++) {
      await chain.mine(1)
      await waitUntil('the block', () => running.context.figures.finalized === first + block)
    }
    const { eth_call = 0, eth_getLogs } = proxy.journal.calls
    expect(eth_getLogs).toBe(logs)
    expect(eth_call - before.eth_call!).toBeLessThanOrEqual(10)
    await running.stop()
    await proxy[Symbol.asyncDispose]()
  })

  test('stores blocks and answers after the clock was set back', async () => {
    let aheadMs = 7_200_000
    const rpcUrls = [filters[0]!.url]
    const clock = () => Date.now() + aheadMs
    running = startReader({ database: store.database, chain, rpcUrls, clock, lagMaxMs: 8_000_000 })
    await untilAgreed(running.context)
    aheadMs = 0
    const before = (await cursor())!.blockNumber
    await chain.mine(3)
    await waitUntil('the block', async () => (await cursor())!.blockNumber > before)
    await waitUntil('an answer', async () => {
      await chain.mine(1) // A step that began earlier stores its block with the time at which it began.
      return 'ok' in (await askRecord(running.context, ana, { lagMaxMs: 600_000 }))
    })
  })

  test('moves the due dates of cycles that it does not read again', async () => {
    const context = start(() => false)
    await untilAgreed(context)
    await chain.pause()
    await chain.warp(45)
    await chain.unpause()
    await chain.mine(2)
    const { dueAt, openedAt } = await chain.accountOf(ana)
    await untilAgreed(context)
    const wallet = ana.toLowerCase() as typeof ana
    const { found } = (await loadRecords(store.database, context.origin, new Set([wallet])))!
    expect(found.get(wallet)!.cycles.find(({ outcome }) => outcome === null)).toMatchObject({
      openedAtSeconds: Number(openedAt),
      dueAtSeconds: Number(dueAt),
    })
    await chain.draw(ana, ausd)
    await chain.mine(2)
    await untilAgreed(context)
  })
})
