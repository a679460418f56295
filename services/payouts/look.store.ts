import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm'
import type { Database } from '#shared/db/open'
import { type Cashout, cashouts } from './cashout.store.ts'

/** Sweeping a row that stays as it is gets rarer: the first wait doubles up to this. */
const waitMaxMs = 3_600_000
/** A window may be open for years, and it is the relayer that watches it. */
const failedWaitMaxMs = 86_400_000
const doublingsMax = 10

/**
 * Takes the rows whose time has come and says when their next look is due, all in one transaction,
 * so that of several copies one looks, and a copy that dies is followed by the next look.
 */
export const takeDue = (database: Database, rowsMax: number, waitMs: number): Promise<Cashout[]> =>
  database.transaction(async (tx) => {
    const due = await tx
      .select({ id: cashouts.id })
      .from(cashouts)
      .where(lte(cashouts.lookAt, sql`now()`))
      .orderBy(asc(cashouts.lookAt))
      .limit(rowsMax)
      .for('update', { skipLocked: true })
    if (due.length === 0) return []
    const ids = due.map((row) => row.id)
    const max = sql`case ${cashouts.state} when 'failed' then ${failedWaitMaxMs}::float8
      else ${waitMaxMs}::float8 end`
    const wait = sql`least(${waitMs} * power(2, least(${cashouts.looks}, ${doublingsMax})), ${max})`
    return tx
      .update(cashouts)
      .set({
        lookAt: sql`now() + ${wait} * interval '1 millisecond'`,
        looks: sql`${cashouts.looks} + 1`,
      })
      .where(and(inArray(cashouts.id, ids)))
      .returning()
  })

/** Looks no more, unless the row moved meanwhile and has another plan. */
export const endLooks = (database: Database, { id, state }: Cashout) =>
  database.read((db) =>
    db
      .update(cashouts)
      .set({ lookAt: null })
      .where(and(eq(cashouts.id, id), eq(cashouts.state, state))),
  )
