import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import type { Span } from './chain/span'
import { beginGeneration, confirmTo } from './cursor.store'
import type { ChainEvent } from './event'
import { addEvents } from './event.store'
import { commitSpans } from './follow'
import { fold, Impossible, type Standing } from './projection'
import { loadStandings, saveStandings } from './record.store'
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
const newGeneration = () =>
  beginGeneration(store.database, { chainId: ++chains, contract: '0x', deployBlock: 1 })

/** Blocks up to that of these events, from the one after `last`. */
const spanAfter = (last: number, events: readonly ChainEvent[]): Span => ({
  ...{ from: last + 1, to: events[0]!.blockNumber, parentHash: '0x', hash: '0x' },
  ...{ atSeconds: events[0]!.atSeconds, events, finalized: 10 ** 9 },
})

/** Writes blocks one by one, remembering in between. */
function writer(generation: number) {
  const remembered = openRemembered()
  let last = 0
  return async (events: readonly ChainEvent[]) => {
    const span = spanAfter(last, events)
    const at = { caughtUp: false, nowMs: 0 }
    expect(await commitSpans(store.database, generation, [span], at, remembered)).not.toBeNull()
    last = span.to
  }
}

const standingIn = async (generation: number): Promise<Standing> =>
  (await store.database.read((db) => loadStandings(db, generation, wallets))).get(wallet)!

/** The rows of a wallet. */
const stored = ({ closed: _, reversing: __, ...standing }: Standing) => standing

test('records written with cached rows equal those written without', async () => {
  const generation = await newGeneration()
  const write = writer(generation)
  for (const events of blocks) await write(events)
  expect(await standingIn(generation)).toMatchObject(stored(fold(blocks.flat())))
})

test("a step after another reader's recheck starts from the rows of that recheck", async () => {
  const generation = await newGeneration()
  const write = writer(generation)
  const lost = blocks.findIndex((events) => events.every(({ name }) => name === 'CollateralAdded'))
  expect(lost).toBeGreaterThan(0)
  for (const [index, events] of blocks.entries()) {
    if (index !== lost) await write(events)
    if (index !== lost + 1) continue
    // The lost event is added, with what makes it visible in the row.
    const found = blocks[lost]!
    const so = { ...fold(blocks.slice(0, index + 1).flat()), repayCount: 77 }
    await store.database.transaction(async (tx) => {
      await addEvents(tx, generation, found)
      await saveStandings(tx, generation, new Map([[wallet, so]]))
      await confirmTo(tx, generation, 1, found.length)
    })
  }
  const repaid = blocks
    .slice(lost + 2)
    .flat()
    .reduce(
      (sum, { name }) => sum + (name === 'Repaid' ? 1 : name === 'RepaymentRevoked' ? -1 : 0),
      0,
    )
  expect((await standingIn(generation)).repayCount).toBe(77 + repaid)
})

test('a refused step is not cached', async () => {
  const generation = await newGeneration()
  const write = writer(generation)
  const lost = blocks.findIndex((events) => events.some(({ name }) => name === 'Drawn'))
  for (const events of blocks.slice(0, lost)) await write(events)
  const refused = blocks
    .slice(lost + 1)
    .find((events) => events.some(({ name }) => name === 'Repaid'))
  await expect(write(refused!)).rejects.toThrow(Impossible)
  for (const events of blocks.slice(lost)) await write(events)
  expect(await standingIn(generation)).toMatchObject(stored(fold(blocks.flat())))
})
