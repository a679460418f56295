import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { fromNow } from '#platform/db/columns'
import type { Database } from '#platform/db/open'
import { type ScratchDatabase, startScratchDatabase } from '#test/support/scratch-postgres'
import { waitUntil } from '#test/support/wait'
import type { CashoutState } from './cashout'
import { insertCashout, leaseDue, lockCashout, moveCashout, moveLocked } from './cashout.store'
import { cashoutRow } from './test-support'

let scratch: ScratchDatabase
let database: Database
beforeAll(async () => {
  scratch = await startScratchDatabase('payouts')
  database = scratch.database
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

async function taking(nextCheckAt: SQL | null = null): Promise<string> {
  const id = crypto.randomUUID()
  await database.transaction((tx) => insertCashout(tx, cashoutRow(id, { state: 'taking', nextCheckAt })))
  return id
}
const move = (id: string, next: CashoutState) => database.run((db) => moveCashout(db, id, next, { nextCheckAt: null }))

describe('the row of a cash-out', () => {
  // guard: a cash-out moves only from a state that allows the step
  test('moves once for concurrent transactions, and never back', async () => {
    const id = await taking()
    await move(id, 'taken')
    const moved = await Promise.all([1, 2, 3].map(() => move(id, 'paying')))
    expect(moved.filter((one) => one !== undefined)).toHaveLength(1)
    for (const before of ['taken', 'failed', 'returned'] as const) expect(await move(id, before)).toBeUndefined()
    expect(await move(id, 'paid')).toMatchObject({ state: 'paid' })
  })

  test('moves together with the side writes while it is locked, or its transaction fails', async () => {
    const id = await taking()
    const moveLater = (next: CashoutState) =>
      database.transaction(async (tx) => {
        await lockCashout(tx, id)
        const anomaly = sql`insert into payouts.anomalies (id, kind, object, says) select ${next}, ${next}, ${id}, '' from moved`
        moveLocked(tx, id, next, { nextCheckAt: null }, [anomaly])
      })
    await moveLater('taken')
    expect(await moveLater('returned').catch(String)).toContain('division by zero')
    const written = sql`
      select state, array(select kind from payouts.anomalies where object = ${id}) as kinds from payouts.payouts where id = ${id}`
    expect([...(await database.read((db) => db.execute(written)))]).toEqual([{ state: 'taken', kinds: ['taken'] }])
  })

  test('is checked although the clock was set back by two hours since its check was planned', async () => {
    const due = async () => {
      const rows = await database.run((db) => leaseDue(db, 10, 20_000))
      return rows.map(({ id }) => id)
    }
    await taking(fromNow(3_600_000))
    const late = await taking(fromNow(7_220_000))
    expect(await due()).toEqual([late])
    expect(await due()).toEqual([])
  })

  test('is checked although Postgres planned its check while its clock was an hour ahead', async () => {
    const id = await taking(fromNow(3_600_000))
    const due = async () => (await database.run((db) => leaseDue(db, 10, 20_000))).map((row) => row.id)
    expect(await due()).toEqual([])
    await database.transaction(async (tx) => {
      await tx.execute(sql`alter table payouts.payouts disable trigger stamp_change`)
      await tx.execute(sql`update payouts.payouts set changed_at = now() + interval '1 hour' where id = ${id}`)
      await tx.execute(sql`alter table payouts.payouts enable trigger stamp_change`)
    })
    expect(await due()).toEqual([id])
    expect(await due()).toEqual([])
  })

  test('of a failed cash-out is left alone for the day until its check', async () => {
    const failed = async (afterMs: number) => {
      const id = await taking()
      const nextCheckAt = fromNow(afterMs)
      await database.run((db) => moveCashout(db, id, 'failed', { nextCheckAt }))
      return id
    }
    await failed(86_400_000)
    const late = await failed(2 * 86_400_000 + 20_000)
    const rows = await database.run((db) => leaseDue(db, 10, 20_000))
    expect(rows.map(({ id }) => id)).toEqual([late])
  })

  // guard: one transaction at a time decides about a cash-out
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
