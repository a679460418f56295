import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { beginGeneration, promote } from './cursor.store'
import type { ChainEvent } from './event'
import { commitEvents } from './follow'
import { fold, Incomplete, unseen } from './projection'
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

async function writeBlocks(
  generation: number,
  events: readonly ChainEvent[],
  then: (written: readonly ChainEvent[]) => Promise<void> = async () => {},
) {
  let sequence = 0
  for (const block of Map.groupBy(events, (event) => event.blockNumber).values()) {
    const { blockNumber, atSeconds } = block[0]!
    sequence += block.length
    const head = { block: blockNumber, hash: '0x', atSeconds, sequence } as const
    const cursor = { generation, sequence: sequence - block.length }
    const at = { head, atMs: 0 }
    expect(await commitEvents(store.database, cursor, block, at)).not.toBeNull()
    await then(events.slice(0, sequence))
  }
}

test('a wallet written block by block equals one fold of all its events', async () => {
  const events = await chain.eventsOf(ana)
  const origin = { chainId: 1, contract: '0x', deployBlock: 1 }
  const generation = await beginGeneration(store.database, origin)
  await writeBlocks(generation, events, async (written) => {
    const { closed, ...standing } = fold(written)
    const stored = await store.database.read((db) => loadStandings(db, generation, wallets))
    if (written.every((event) => event.wallet === null)) return
    expect(stored.get(wallet)).toMatchObject(standing)
    const needed = new Set(standing.held.map((held) => held.cycle))
    const reversible = closed.filter((cycle) => needed.has(cycle.number))
    expect(stored.get(wallet)!.closed).toMatchObject(reversible)
  })
  await store.database.transaction((tx) => promote(tx, generation))
  const { found } = (await loadRecords(store.database, origin, wallets))!
  const cycles = found.get(wallet)!.cycles.sort((left, right) => left.number - right.number)
  const all = fold(events)
  expect(cycles).toMatchObject([...all.closed, all.open!])
  expect(cycles).toHaveLength(11)
})

test('a contradictory event is refused, and leaves nothing behind', async () => {
  const events = await chain.eventsOf(ana)
  const generation = await beginGeneration(store.database, {
    chainId: 2,
    contract: '0x',
    deployBlock: 1,
  })
  const drawn = events.findIndex((event) => event.name === 'Drawn')
  const cut = [...events.slice(0, drawn), ...events.slice(drawn + 1, drawn + 2)]
  const at = { head: null, atMs: 0 }
  const commit = commitEvents(store.database, { generation, sequence: 0 }, cut, at)
  await expect(commit).rejects.toThrow(Incomplete)
  const stored = await store.database.read((db) => loadStandings(db, generation, wallets))
  expect(stored.get(wallet)).toBe(unseen)
})
