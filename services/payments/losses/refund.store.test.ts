import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Database } from '#platform/db/open'
import { type ScratchDatabase, startScratchDatabase } from '#test/support/scratch-postgres'
import { addMadeGood, findMissing, findReports, recordReport, type StoredReport, storeReversal } from './refund.store'

let scratch: ScratchDatabase
let database: Database
beforeAll(async () => {
  scratch = await startScratchDatabase('payments')
  database = scratch.database
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

describe('the stored report of a refund', () => {
  const report = { id: 'rfd-1', paymentId: 'pay_1', providerPaymentId: 'py-1', origin: 'refund' }
  const told = async (status: StoredReport['status'], refundedMinor: bigint | null = 20_000n) => {
    const given = { ...report, origin: 'refund', status, refundedMinor } as const
    const news = await database.transaction((tx) => recordReport(tx, given))
    const [stored] = await database.read((db) => findReports(db, 'py-1'))
    return [stored!.status, stored!.refundedMinor, news !== undefined]
  }

  // guard: a refund that succeeded comes back only by a final status
  test('follows the provider in both directions, but a stale "pending" undoes nothing', async () => {
    expect(await told('pending')).toEqual(['pending', 20_000n, true])
    expect(await told('succeeded')).toEqual(['succeeded', 20_000n, true])
    expect(await told('succeeded')).toEqual(['succeeded', 20_000n, false])
    expect(await told('pending')).toEqual(['succeeded', 20_000n, false])
    expect(await told('succeeded', 30_000n)).toEqual(['succeeded', 30_000n, true])
    expect(await told('dead')).toEqual(['dead', 20_000n, true])
    expect(await told('succeeded', null)).toEqual(['succeeded', null, true])
  })

  // guard: the amount of a decision is not replaced by that of the claim before it
  test.each(['pending', 'unknown'] as const)(
    'keeps the amount of a decision when an older "%s" comes late',
    async (late) => {
      await told('pending', 135_200n)
      expect(await told('succeeded', 48_653n)).toEqual(['succeeded', 48_653n, true])
      expect(await told(late, 135_200n)).toEqual(['succeeded', 48_653n, false])
      expect(await told('dead', 48_653n)).toEqual(['dead', 48_653n, true])
    },
  )
})

describe('the stored loss of a payment', () => {
  const wallet = `0x${'11'.repeat(20)}` as const
  const lose = (lostMicro: bigint) =>
    database.transaction((tx) => storeReversal(tx, { paymentId: 'pay_1', wallet, lostMicro, isOurs: false }))

  test('is missing by its unrepaid part after it grows, and not after it shrinks', async () => {
    expect(await lose(1_000_000n)).toMatchObject({ lostMicro: 1_000_000n })
    await database.transaction((tx) => addMadeGood(tx, 'pay_1', 400_000n))
    expect(await lose(1_500_000n)).toMatchObject({ madeGoodMicro: 400_000n })
    const missing = () => database.read((db) => findMissing(db, wallet))
    expect(await missing()).toMatchObject([{ lostMicro: 1_500_000n, madeGoodMicro: 400_000n }])
    // The repaid amount stays repaid, even beyond a loss that shrinks later.
    expect(await lose(0n)).toMatchObject({ lostMicro: 0n, madeGoodMicro: 400_000n })
    expect(await missing()).toEqual([])
  })
})
