import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Database } from '#shared/db/open'
import { type ScratchDatabase, startScratchDatabase } from '#test/support/scratch-postgres'
import {
  addMadeGood,
  findMissing,
  isRefunded,
  recordRefund,
  storeReversal,
  sumRefunded,
} from './refund.store'

let scratch: ScratchDatabase
let database: Database
beforeAll(async () => {
  scratch = await startScratchDatabase('payments')
  database = scratch.database
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

describe('a refund', () => {
  test('that succeeded stays so, and is summed up once', async () => {
    const refund = { id: 'rfd-1', paymentId: 'pay_1', providerPaymentId: 'py-1' }
    for (const status of ['pending', 'succeeded', 'succeeded', 'pending', 'dead'] as const)
      await database.transaction((tx) =>
        recordRefund(tx, { ...refund, refundedMinor: 20_000n, status }),
      )
    expect(await database.read((db) => isRefunded(db, 'rfd-1'))).toBe(true)
    expect(await database.transaction((tx) => sumRefunded(tx, 'py-1'))).toBe(20_000n)
  })
})

describe('a loss', () => {
  const wallet = `0x${'11'.repeat(20)}` as const
  const lose = (lostMicro: bigint) =>
    database.transaction((tx) => storeReversal(tx, { paymentId: 'pay_1', wallet, lostMicro }))

  test('that is told again is no new one, and of one that grew the rest is missing', async () => {
    expect(await lose(1_000_000n)).toMatchObject({ lostMicro: 1_000_000n })
    await database.transaction((tx) => addMadeGood(tx, 'pay_1', 400_000n))
    expect(await lose(1_000_000n)).toBeUndefined()
    expect(await lose(900_000n)).toBeUndefined()
    expect(await lose(1_500_000n)).toMatchObject({ madeGoodMicro: 400_000n })
    const missing = await database.read((db) => findMissing(db, wallet))
    expect(missing).toMatchObject([{ lostMicro: 1_500_000n, madeGoodMicro: 400_000n }])
  })
})
