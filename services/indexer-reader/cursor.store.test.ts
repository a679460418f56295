import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { beginGeneration, cursors, moveCursor, promote } from './cursor.store'
import { openTestDatabase } from './test-support'

let postgres: ScratchPostgres
let store: Awaited<ReturnType<typeof openTestDatabase>>

beforeAll(async () => {
  postgres = await startScratchPostgres()
})
afterAll(() => postgres[Symbol.asyncDispose]())
beforeEach(async () => {
  store = await openTestDatabase(postgres, 'cursors')
})
afterEach(() => store.database[Symbol.asyncDispose]())

const origin = { chainId: 1, contract: '0xa', deployBlock: 1 }

async function filledTo(block: number, of = origin) {
  const generation = await beginGeneration(store.database, of)
  await moveTo(generation, block)
  return generation
}
const moveTo = (generation: number, block: number) => {
  const head = { block, hash: '0x', atSeconds: block, sequence: 0 } as const
  const to = { sequence: 0, head, atMs: 0 }
  return store.database.run((db) => moveCursor(db, { generation, sequence: 0 }, to))
}
const promoted = (generation: number) => store.database.transaction((tx) => promote(tx, generation))
const states = async () => {
  const rows = await store.database.read((db) => db.select().from(cursors).orderBy(cursors.generation))
  return rows.map(({ state, blockNumber }) => `${state} at ${blockNumber}`)
}

test('a rebuild takes over no sooner than at the block that was already answered', async () => {
  await promoted(await filledTo(10))
  const rebuilt = await filledTo(9)
  expect(await promoted(rebuilt)).toBe(false)
  expect(await states()).toEqual(['serving at 10', 'filling at 9'])
  await moveTo(rebuilt, 10)
  expect(await promoted(rebuilt)).toBe(true)
  expect(await states()).toEqual(['retired at 10', 'serving at 10'])
})

test('a rebuild waits for a block that another instance stores while it takes over', async () => {
  const serving = await filledTo(10)
  await promoted(serving)
  const rebuilt = await filledTo(10)
  const { promise: isMoved, resolve: moved } = Promise.withResolvers<void>()
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
  const other = store.database.transaction(async (tx) => {
    const head = { block: 11, hash: '0x', atSeconds: 11, sequence: 0 } as const
    await moveCursor(tx, { generation: serving, sequence: 0 }, { sequence: 0, head, atMs: 0 })
    moved()
    await isReleased
  })
  await isMoved
  const attempt = promoted(rebuilt)
  release()
  await other
  expect(await attempt).toBe(false)
  expect(await states()).toEqual(['serving at 11', 'filling at 10'])
})

test('a generation that two instances promote goes on serving', async () => {
  const generation = await filledTo(10)
  await Promise.all([promoted(generation), promoted(generation)])
  await promoted(generation)
  expect(await states()).toEqual(['serving at 10'])
})

test('a rebuild for another contract takes over at any block', async () => {
  await promoted(await filledTo(10))
  expect(await promoted(await filledTo(5, { ...origin, contract: '0xb' }))).toBe(true)
  expect(await states()).toEqual(['retired at 10', 'serving at 5'])
})
