import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type ScratchPostgres, startScratchPostgres } from '#infra/migrations/scratch-postgres'
import { beginGeneration } from './cursor.store.ts'
import type { ChainEvent } from './event.ts'
import { commitSpans } from './projection.store.ts'
import { evolve, fold, unseen } from './projection.ts'
import { loadRecords, loadStandings } from './record.store.ts'
import { openRigChain, type RigChain } from './rig/chain.ts'
import { openRigDatabase } from './rig/rig.ts'
import { ana, tellStory } from './rig/story.ts'
import type { Span } from './span.ts'

setDefaultTimeout(60_000)

let postgres: ScratchPostgres
let chain: RigChain
let rig: Awaited<ReturnType<typeof openRigDatabase>>

beforeAll(async () => {
  ;[postgres, chain] = await Promise.all([startScratchPostgres(), openRigChain()])
  await tellStory(chain)
  rig = await openRigDatabase(postgres, 'projection')
})
afterAll(async () => {
  await rig.database[Symbol.asyncDispose]()
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

test('a wallet written block by block stands where one fold of all its events stands', async () => {
  const events = await chain.eventsOf(ana)
  const origin = { chainId: 1, contract: '0x', deployBlock: 1 }
  const generation = await beginGeneration(rig.database, origin)
  let from = 1
  let told = unseen
  for (const block of Map.groupBy(events, (event) => event.blockNumber).values()) {
    const span = spanTo(from, block)
    await commitSpans(rig.database, generation, [span], { caughtUp: true, nowMs: 0 })
    from = span.to + 1
    told = block.reduce(evolve, told)
    const { closed, ...standing } = told
    const stored = await rig.database.read((db) => loadStandings(db, generation, wallets))
    expect(stored.get(wallet)).toMatchObject(standing)
    const needed = new Set(told.held.map((held) => held.cycle))
    const reversible = closed.filter((cycle) => needed.has(cycle.number))
    expect(stored.get(wallet)!.closed).toMatchObject(reversible)
  }
  const { found } = (await loadRecords(rig.database, origin, wallets))!
  const cycles = found.get(wallet)!.cycles.sort((left, right) => left.number - right.number)
  const all = fold(events)
  expect(cycles).toMatchObject([...all.closed, all.open!])
  expect(cycles).toHaveLength(9)
})

test('a step that ends within a reversal is refused, and leaves nothing behind', async () => {
  const events = await chain.eventsOf(ana)
  const origin = { chainId: 2, contract: '0x', deployBlock: 1 }
  const generation = await beginGeneration(rig.database, origin)
  const end = events.findIndex((event) => event.name === 'CycleReversed') + 1
  const cut = { ...spanTo(1, events.slice(end - 1, end)), events: events.slice(0, end) }
  const commit = commitSpans(rig.database, generation, [cut], { caughtUp: false, nowMs: 0 })
  await expect(commit).rejects.toThrow(/no debt came back/)
  const stored = await rig.database.read((db) => loadStandings(db, generation, wallets))
  expect(stored.get(wallet)).toBe(unseen)
})
