import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import type { Span } from './chain/span'
import { beginGeneration } from './cursor.store'
import type { ChainEvent } from './event'
import { commitSpans } from './follow'
import { evolve, fold, unseen } from './projection'
import { loadRecords, loadStandings } from './record.store'
import { ana, openTestChain, openTestDatabase, playStory, type TestChain } from './test-support'

let postgres: ScratchPostgres
let chain: TestChain
let store: Awaited<ReturnType<typeof openTestDatabase>>

beforeAll(async () => {
  ;[postgres, chain] = await Promise.all([startScratchPostgres(), openTestChain()])
  await playStory(chain)
  store = await openTestDatabase(postgres, 'projection')
})
afterAll(async () => {
  await store.database[Symbol.asyncDispose]()
  await Promise.all([postgres[Symbol.asyncDispose](), chain.close()])
})

const wallet = ana.toLowerCase() as typeof ana
const wallets = new Set([wallet])

/** Blocks `from` to the event's, with the events of that block. */
const spanTo = (from: number, events: readonly ChainEvent[]): Span => ({
  from,
  to: events[0]!.blockNumber,
  parentHash: '0x',
  hash: '0x',
  atSeconds: events[0]!.atSeconds,
  events,
  finalized: 10 ** 9,
})

test('a wallet written block by block equals one fold of all its events', async () => {
  const events = await chain.eventsOf(ana)
  const origin = { chainId: 1, contract: '0x', deployBlock: 1 }
  const generation = await beginGeneration(store.database, origin)
  let from = 1
  let folded = unseen
  for (const block of Map.groupBy(events, (event) => event.blockNumber).values()) {
    const span = spanTo(from, block)
    await commitSpans(store.database, generation, [span], { caughtUp: true, nowMs: 0 })
    from = span.to + 1
    folded = block.reduce(evolve, folded)
    const { closed, ...standing } = folded
    const stored = await store.database.read((db) => loadStandings(db, generation, wallets))
    expect(stored.get(wallet)).toMatchObject(standing)
    const needed = new Set(folded.held.map((held) => held.cycle))
    const reversible = closed.filter((cycle) => needed.has(cycle.number))
    expect(stored.get(wallet)!.closed).toMatchObject(reversible)
  }
  const { found } = (await loadRecords(store.database, origin, wallets))!
  const cycles = found.get(wallet)!.cycles.sort((left, right) => left.number - right.number)
  const all = fold(events)
  expect(cycles).toMatchObject([...all.closed, all.open!])
  expect(cycles).toHaveLength(9)
})

test('a step that ends within a reversal is refused and leaves no rows', async () => {
  const events = await chain.eventsOf(ana)
  const origin = { chainId: 2, contract: '0x', deployBlock: 1 }
  const generation = await beginGeneration(store.database, origin)
  const end = events.findIndex((event) => event.name === 'CycleReversed') + 1
  const cut = { ...spanTo(1, events.slice(end - 1, end)), events: events.slice(0, end) }
  const commit = commitSpans(store.database, generation, [cut], { caughtUp: false, nowMs: 0 })
  await expect(commit).rejects.toThrow(/without restoring its debt/)
  const stored = await store.database.read((db) => loadStandings(db, generation, wallets))
  expect(stored.get(wallet)).toBe(unseen)
})
