import { afterAll, beforeAll, expect, test } from 'bun:test'
import { pgSchema } from 'drizzle-orm/pg-core'
import {
  findListed,
  type ListingKey,
  lastReadAt,
  leaseListing,
  listingTable,
  recordWhole,
} from '#shared/provider/listing.store'
import { type ScratchDatabase, startScratchDatabase } from '#test/support/scratch-postgres'

const listings = listingTable(pgSchema('payments'))
const everyMs = 3_600_000
let scratch: ScratchDatabase
beforeAll(async () => {
  scratch = await startScratchDatabase('payments')
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

const lease = (key: ListingKey) => leaseListing(scratch.database, listings, key, everyMs)
const read = (key: ListingKey, agoMs: number) => {
  const beganAt = new Date(Date.now() - agoMs)
  return recordWhole(scratch.database, listings, key, { beganAt, everyMs })
}

test('a list is read although the clock was set back by two hours since its reading was planned', async () => {
  const key = { account: 'ID', window: 'recent' } as const
  expect(await lease(key)).toBeDefined()
  await read(key, 0)
  expect(await lease(key)).toBeUndefined()
  await read(key, -7_220_000)
  expect(await lease(key)).toBeDefined()
  expect(await lease(key)).toBeUndefined()
})

test('a reading from before the clock was set back does not count as current', async () => {
  const { database } = scratch
  const key = { account: 'MY', window: 'latest' } as const
  const listed = () => findListed(database, listings, 'latest', 60_000)
  await lease(key)
  await read(key, 1_000)
  expect(await listed()).toEqual(['MY'])
  await read(key, -7_200_000)
  expect(await listed()).toEqual([])
  expect(await database.read((db) => lastReadAt(db, listings, 'MY'))).toBeNull()
})
