import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { beginGeneration } from './cursor.store'
import type { ChainEvent } from './event'
import { commitEvents } from './follow'
import { fold, Incomplete, type WalletProjection } from './projection'
import { loadStandings } from './record.store'
import { openRemembered } from './remembered'
import { ana, openTestChain, openTestDatabase, playStory, type TestChain } from './test-support'

let postgres: ScratchPostgres
let chain: TestChain
let store: Awaited<ReturnType<typeof openTestDatabase>>
let blocks: ChainEvent[][]

beforeAll(async () => {
  ;[postgres, chain] = await Promise.all([startScratchPostgres(), openTestChain()])
  await playStory(chain)
  store = await openTestDatabase(postgres, 'remembered')
  const events = await chain.eventsOf(ana)
  blocks = [...Map.groupBy(events, ({ blockNumber }) => blockNumber).values()]
})
afterAll(async () => {
  await store.database[Symbol.asyncDispose]()
  await Promise.all([postgres[Symbol.asyncDispose](), chain.close()])
})

const wallet = ana.toLowerCase() as typeof ana
const wallets = new Set([wallet])

let chains = 0
const newGeneration = () => beginGeneration(store.database, { chainId: ++chains, contract: '0x', deployBlock: 1 })

function writer(generation: number) {
  const remembered = openRemembered()
  return async (events: readonly ChainEvent[], sequence: number) => {
    const at = { head: null, atMs: 0 }
    const cursor = { generation, sequence }
    const moved = await commitEvents(store.database, cursor, events, at, { remembered })
    expect(moved).not.toBeNull()
    return moved!.sequence
  }
}

/** Writes all events through several writers, which share the rows but not the memory. */
async function writeAll(generation: number, readers: number) {
  const writers = Array.from({ length: readers }, () => writer(generation))
  let sequence = 0
  for (const [index, events] of blocks.entries()) {
    sequence = await writers[index % readers]!(events, sequence)
  }
}

const standingIn = async (generation: number): Promise<WalletProjection> =>
  (await store.database.read((db) => loadStandings(db, generation, wallets))).get(wallet)!

/** Returns what the rows hold, which is everything but closed cycles. */
const stored = ({ closed: _, ...standing }: WalletProjection) => standing

test.each([1, 2, 3])('rows written by %d readers, each with a memory, are exact', async (readers) => {
  const generation = await newGeneration()
  await writeAll(generation, readers)
  expect(await standingIn(generation)).toMatchObject(stored(fold(blocks.flat())))
})

test('a refused step is not cached', async () => {
  const generation = await newGeneration()
  const write = writer(generation)
  const lost = blocks.findIndex((events) => events.some(({ name }) => name === 'Drawn'))
  let sequence = 0
  for (const events of blocks.slice(0, lost)) sequence = await write(events, sequence)
  const refused = blocks.slice(lost + 1).find((events) => events.some(({ name }) => name === 'Repaid'))
  await expect(write(refused!, sequence)).rejects.toThrow(Incomplete)
  for (const events of blocks.slice(lost)) sequence = await write(events, sequence)
  expect(await standingIn(generation)).toMatchObject(stored(fold(blocks.flat())))
})
