import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { isTooLate } from '#platform/db/compiled-query'
import type { Database } from '#platform/db/open'
import { openLog } from '#platform/log'
import { type ScratchDatabase, startScratchDatabase } from '#test/support/scratch-postgres'
import type { Context } from '../context'
import { outbox } from '../schema.store'
import { newRefId } from '../test-support'
import { orderOf, restMaxMs, type Task } from './operation'
import { assignOperations, findDue, findOperation, insertOperation, postponeOperation } from './operation.store'
import type { Operation } from './operation.table'
import { fail, giveUp, settle, settleAll } from './order'

let scratch: ScratchDatabase
let database: Database
beforeAll(async () => {
  scratch = await startScratchDatabase('chain-relayer')
  database = scratch.database
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

const wallet = `0x${'11'.repeat(20)}` as const
const find = async (id: string): Promise<Operation> => (await database.read((db) => findOperation(db, id)))!
async function waiting(): Promise<Operation> {
  const payload = { refId: newRefId(), wallet, ausd: '1000000', held: false }
  const order = orderOf({ kind: 'credit', payload })
  await database.transaction((tx) => insertOperation(tx, order))
  return find(order.id)
}
const assign = (id: string, nonce: number): Promise<boolean> =>
  database
    .transaction((tx) => assignOperations(tx, [id], { lane: wallet, nonce }))
    .then(
      () => true,
      (error) => {
        if (isTooLate(error)) return false
        throw error
      },
    )

describe('the row of an operation', () => {
  // guard: an operation gets a nonce once, while it is waiting
  test('gets one nonce when two instances assign it concurrently', async () => {
    const { id } = await waiting()
    const assigned = await Promise.all([1, 2].map((nonce) => assign(id, nonce)))
    expect(assigned.toSorted()).toEqual([false, true])
    expect(await find(id)).toMatchObject({ state: 'assigned', nonce: assigned[0] ? 1 : 2 })
  })

  // guard: only a waiting operation is postponed
  test('with a nonce is not postponed', async () => {
    const { id } = await waiting()
    await assign(id, 1)
    await database.run((db) => postponeOperation(db, id, 60_000, 1, 'policy_refused'))
    expect(await find(id)).toMatchObject({ state: 'assigned', tries: 0, reason: null })
  })

  test('is due after the database clock was set back by more than it ever waits', async () => {
    const { id } = await waiting()
    const dueIds = async () => (await database.read((db) => findDue(db, 256))).map((row) => row.id)
    await database.run((db) => postponeOperation(db, id, restMaxMs, 0))
    expect(await dueIds()).not.toContain(id)
    await database.run((db) => postponeOperation(db, id, 3_600_000, 0))
    expect(await dueIds()).toContain(id)
  })

  // guard: an examined operation is ended only if it is still waiting
  // guard: an operation is given up only if it is still waiting
  test('with a nonce is not ended by an instance that read it without one', async () => {
    const seen = await waiting()
    await assign(seen.id, 1)
    const log = openLog('chain-relayer', 'silent')
    const context = { database, log, poke: () => {} } as unknown as Context
    await giveUp(context, seen, 'policy_refused', false)
    expect(await database.transaction((tx) => settle(tx, seen, null))).toBe(false)
    expect(await find(seen.id)).toMatchObject({ state: 'assigned', reason: null })
  })

  // guard: an operation ends once
  test('ends once, and its result is announced once', async () => {
    const operation = await waiting()
    const ends = [
      () => database.transaction((tx) => settle(tx, operation, null)),
      () => database.transaction((tx) => fail(tx, operation, 'reverted')),
    ]
    const ended = [await ends[0]!(), await ends[0]!(), await ends[1]!()]
    expect(ended).toEqual([true, false, false])
    expect(await find(operation.id)).toMatchObject({ state: 'settled', reason: null })
    const cause = sql`${outbox.payload} ->> 'cause'`
    const told = await database.read((db) => db.select().from(outbox).where(sql`${cause} = ${operation.cause}`))
    expect(told).toHaveLength(1)
  })
})

// guard: only one verdict of a wallet is in progress at a time
test('only one of two verdicts of a kind on a wallet is assigned', async () => {
  const ordered = async (kind: 'verify' | 'freeze', revision: string) => {
    const flag = kind === 'verify' ? { verified: true } : { frozen: true }
    const order = orderOf({ kind, payload: { wallet, revision, ...flag } } as Task)
    await database.transaction((tx) => insertOperation(tx, order))
    return find(order.id)
  }
  const [first, second] = [await ordered('verify', '1'), await ordered('verify', '2')]
  const freeze = await ordered('freeze', '1')
  expect(await assign(first.id, 1)).toBe(true)
  expect(await assign(second.id, 2)).toBe(false)
  expect(await assign(freeze.id, 3)).toBe(true)
  const place = { txHash: `0x${'22'.repeat(32)}`, blockNumber: 7n, blockHash: first.id } as never
  await database.transaction((tx) => settleAll(tx, [first], place, () => undefined))
  expect(await assign(second.id, 2)).toBe(true)
})
