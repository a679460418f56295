import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { Database } from '#platform/db/open'
import { type ScratchDatabase, startScratchDatabase } from '#test/support/scratch-postgres'
import { waitUntil } from '#test/support/wait'
import type { CashoutState } from './cashout'
import { insertCashout, lockCashout, moveCashout } from './cashout.store'

let scratch: ScratchDatabase
let database: Database
beforeAll(async () => {
  scratch = await startScratchDatabase('payouts')
  database = scratch.database
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

async function taking(): Promise<string> {
  const id = crypto.randomUUID()
  const wallet = `0x${'11'.repeat(20)}` as const
  await database.transaction((tx) =>
    insertCashout(tx, {
      ...{ id, wallet, state: 'taking', rateMinorPerUsd: 16_250n, ausdMicro: 5_000_000n },
      ...{ fiatMinor: 81_250n, quoteId: id, requestFingerprint: 'sari', authorizer: wallet },
      ...{ authorizationNonce: id, authorization: {} as never, channelCode: 'ID_BCA' },
      ...{ bankDetails: 'sealed', bankDetailsKeyId: 'a' },
    }),
  )
  return id
}
const move = (id: string, next: CashoutState) =>
  database.run((db) => moveCashout(db, id, next, { nextCheckAt: null }))

describe('the row of a cash-out', () => {
  test('moves once for concurrent transactions, and never back', async () => {
    const id = await taking()
    await move(id, 'taken')
    const moved = await Promise.all([1, 2, 3].map(() => move(id, 'paying')))
    expect(moved.filter((one) => one !== undefined)).toHaveLength(1)
    for (const before of ['taken', 'failed', 'returned'] as const)
      expect(await move(id, before)).toBeUndefined()
    expect(await move(id, 'paid')).toMatchObject({ state: 'paid' })
  })

  test('is locked by one transaction at a time', async () => {
    const id = await taking()
    const order: string[] = []
    const isLocked = Promise.withResolvers<void>()
    const waiting = sql`select from pg_stat_activity where wait_event_type = 'Lock'`
    const isWaited = async () => (await database.read((db) => db.execute(waiting))).length > 0
    const first = database.transaction(async (tx) => {
      await lockCashout(tx, id)
      isLocked.resolve()
      await waitUntil('the second', async () => order.length > 0 || (await isWaited()))
      order.push('the first')
    })
    await isLocked.promise
    const second = database.transaction(async (tx) => {
      await lockCashout(tx, id)
      order.push('the second')
    })
    await Promise.all([first, second])
    expect(order).toEqual(['the first', 'the second'])
  })
})
