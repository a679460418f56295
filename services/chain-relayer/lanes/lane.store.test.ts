import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { isTooLate } from '#platform/db/compiled-query'
import type { Database } from '#platform/db/open'
import { type ScratchDatabase, startScratchDatabase } from '#test/support/scratch-postgres'
import {
  closeTransaction,
  drawNonce,
  insertLane,
  insertTransaction,
  type Lane,
  lanes,
  leaseLanes,
  renewLanes,
  transactions,
} from './lane.store'

let scratch: ScratchDatabase
let database: Database
beforeAll(async () => {
  scratch = await startScratchDatabase('chain-relayer')
  database = scratch.database
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

let made = 0
async function newLane(): Promise<`0x${string}`> {
  const address = `0x${(++made).toString(16).padStart(40, '0')}` as const
  await insertLane(database, address, 7)
  return address
}
async function lease(address: `0x${string}`, holder: string): Promise<Lane> {
  return (await leaseLanes(database, [address], holder))[0]!
}
const setLane = (address: `0x${string}`, set: Partial<typeof lanes.$inferInsert>) =>
  database.run((db) => db.update(lanes).set(set).where(eq(lanes.address, address)))
/** Returns the nonce that was drawn, or undefined. */
const draw = (held: Lane, holder: string): Promise<number | undefined> =>
  database
    .transaction((tx) => drawNonce(tx, held, holder))
    .then((isDrawn) => (isDrawn() ? held.nextNonce : expect.unreachable()))
    .catch((error) => (isTooLate(error) ? undefined : Promise.reject(error)))

describe('the nonces of a lane', () => {
  // guard: a nonce is given out once
  test('are given out once each, in their order, when they are drawn concurrently', async () => {
    const held = await lease(await newLane(), 'first')
    const drawn = await Promise.all(Array.from({ length: 8 }, () => draw(held, 'first')))
    expect(drawn.filter((nonce) => nonce !== undefined)).toEqual([7])
    expect(await draw({ ...held, nextNonce: 9 }, 'first')).toBeUndefined()
    expect(await draw({ ...held, nextNonce: 8 }, 'first')).toBe(8)
  })

  test('are not drawn if what is stored with them fails', async () => {
    const held = await lease(await newLane(), 'first')
    const failing = database.transaction((tx) => {
      drawNonce(tx, held, 'first')
      throw new Error('nothing fits')
    })
    await expect(failing).rejects.toThrow('nothing fits')
    expect(await draw(held, 'first')).toBe(7)
  })

  // Each case has one fault, so that no other check could refuse it.
  test.each<[string, (address: `0x${string}`, held: Lane) => Promise<[Lane, string]>]>([
    // guard: a nonce is drawn by the holder of its lane
    ['another holder', async (_, held) => [held, 'second']],
    // guard: a nonce is drawn under the newest epoch of its lane
    ['an epoch before', async (_, held) => [{ ...held, epoch: held.epoch - 1 }, 'first']],
    // guard: a nonce is drawn only during the lease
    [
      'a lease that is over',
      async (address, held) => {
        await setLane(address, { leasedUntil: new Date(Date.now() - 60_000) })
        return [held, 'first']
      },
    ],
    // guard: a faulty lane gives out no nonce
    [
      'a lane with a fault',
      async (address, held) => {
        await setLane(address, { fault: 'chain_ahead' })
        return [held, 'first']
      },
    ],
  ])('are not drawn: %s', async (_, spoil) => {
    const address = await newLane()
    const held = await lease(address, 'first')
    expect(await draw(held, 'first')).toBe(7)
    const [lane, holder] = await spoil(address, { ...held, nextNonce: 8 })
    expect(await draw(lane, holder)).toBeUndefined()
  })
})

describe('the lease of a lane', () => {
  // guard: a held lane is not leased to another instance
  test('is held by one of two concurrent claimants', async () => {
    const address = await newLane()
    const leased = await Promise.all(['first', 'second'].map((holder) => leaseLanes(database, [address], holder)))
    expect(leased.flat()).toHaveLength(1)
    const [held] = leased.flat()
    const other = held!.holder === 'first' ? 'second' : 'first'
    expect(await leaseLanes(database, [address], other)).toEqual([])
  })

  // guard: a new holder of a lane has a new epoch
  test('is new for each new holder, and the same while it is renewed', async () => {
    const address = await newLane()
    const { epoch } = await lease(address, 'first')
    expect(await lease(address, 'first')).toMatchObject({ epoch })
    await setLane(address, { leasedUntil: null })
    expect((await lease(address, 'second')).epoch).toBeGreaterThan(epoch)
  })

  test('neither stays with a dead holder nor goes without renewal after the database clock was set back', async () => {
    const address = await newLane()
    await lease(address, 'first')
    const known = async (holder: string) =>
      (await database.run((db) => renewLanes(db, holder))).lanes.find((lane) => lane.address === address)
    await setLane(address, { leasedUntil: new Date(Date.now() + 3_600_000) })
    expect(await known('second')).toMatchObject({ isFree: true, isFresh: false })
    expect(await known('first')).toMatchObject({ isFree: true, isFresh: true })
    expect(await known('second')).toMatchObject({ isFree: false, isFresh: true })
    await setLane(address, { leasedUntil: new Date(Date.now() + 3_600_000) })
    expect(await lease(address, 'second')).toMatchObject({ holder: 'second' })
  })
})

describe('a relayed transaction', () => {
  // guard: a transaction ends once
  test('ends once, in one step with its operations', async () => {
    const lane = await newLane()
    const at = { lane, nonce: 7 }
    const hash = `0x${lane.slice(2).padStart(64, '0')}` as const
    const call = { to: lane, data: '0x', valueWei: 0n, operationIds: [] } as const
    const fees = { maxFeeWei: 1n, priorityWei: 1n, gas: 1n }
    await database.transaction((tx) =>
      insertTransaction(
        tx,
        { ...at, ...call, operationIds: [], purpose: 'op' },
        { ...at, ...fees, attempt: 1, purpose: 'call', raw: '0x', hash },
      ),
    )
    const place = { txHash: hash, blockNumber: 1n, blockHash: hash }
    const close = (outcome: 'ok' | 'reverted') =>
      database
        .transaction((tx) => closeTransaction(tx, at, { outcome, ...place }, [], undefined))
        .then(
          () => 'closed',
          (error) => (isTooLate(error) ? 'too late' : error),
        )
    expect([await close('ok'), await close('reverted')]).toEqual(['closed', 'too late'])
    const [row] = await database.read((db) => db.select().from(transactions).where(eq(transactions.lane, lane)))
    expect(row!.outcome).toBe('ok')
  })
})
