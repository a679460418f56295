import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Database } from '#platform/db/open'
import { type ScratchDatabase, startScratchDatabase } from '#test/support/scratch-postgres'
import { countRequest, findOrders, insertOrders, type RefundOrderRow, recordOrder } from './resolution.store'

let scratch: ScratchDatabase
let database: Database
beforeAll(async () => {
  scratch = await startScratchDatabase('payments')
  database = scratch.database
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

const order = (reference: string) => ({
  reference,
  paymentId: reference,
  account: 'ID',
  currency: 'IDR',
  isSecond: false,
  providerPaymentId: `py-${reference}`,
  minor: 40_000n,
})
async function ordered(reference: string): Promise<RefundOrderRow> {
  await database.transaction((tx) => insertOrders(tx, [order(reference) as never]))
  return (await database.read((db) => findOrders(db, reference)))[0]!
}

describe('a refund ordered by an operator', () => {
  // guard: one instance counts a refund request before it is sent
  test('is requested by one of two instances that count it concurrently', async () => {
    const seen = await ordered('counted')
    const counted = [1, 2].map(() => database.run((db) => countRequest(db, seen)))
    expect((await Promise.all(counted)).toSorted()).toEqual([false, true])
    expect(await database.read((db) => findOrders(db, 'counted'))).toMatchObject([{ requests: 1 }])
  })

  // guard: an ended refund keeps its outcome
  test('that has ended is not requested again, and keeps its result unless the money comes back', async () => {
    const seen = await ordered('over')
    const note = (state: RefundOrderRow['state']) =>
      database.transaction((tx) => recordOrder(tx, 'over', { state, refundId: 'rfd-1' }))
    const found = () => database.read((db) => findOrders(db, 'over'))
    expect(await note('succeeded')).toBeDefined()
    expect(await note('open')).toBeUndefined()
    expect(await database.run((db) => countRequest(db, seen))).toBe(false)
    expect(await found()).toMatchObject([{ state: 'succeeded' }])
    expect(await note('failed')).toBeDefined()
    expect(await note('succeeded')).toBeUndefined()
    expect(await found()).toEqual([])
  })
})
