import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm'
import type { Database } from '#shared/db/open'
import { type PaymentRow, payments } from './payment.store'

/** Longer than one look takes, so that another copy takes over only after a crash. */
const leaseSeconds = 30

/**
 * Takes the payments whose look is due; copies of the service share them out. What is on hold comes
 * first, because its time runs out; then what is due the longest.
 */
export const leaseLooks = (database: Database, now: Date, rowsMax: number): Promise<PaymentRow[]> =>
  database.transaction(async (tx) => {
    const due = await tx
      .select({ id: payments.id })
      .from(payments)
      .where(lte(payments.lookAt, now))
      .orderBy(sql`(${payments.state} in ('held', 'repaid')) desc`, asc(payments.lookAt))
      .limit(rowsMax)
      .for('update', { skipLocked: true })
    if (due.length === 0) return []
    const ids = due.map(({ id }) => id)
    const lookAt = new Date(now.getTime() + leaseSeconds * 1_000)
    return tx
      .update(payments)
      .set({ lookAt, looks: sql`${payments.looks} + 1` })
      .where(inArray(payments.id, ids))
      .returning()
  })

/** Plans the next look, unless the payment moved meanwhile and has another plan. */
export const planLook = (
  database: Database,
  { id, state, looks }: PaymentRow,
  lookAt: Date | null,
) =>
  database.read((db) =>
    db
      .update(payments)
      .set({ lookAt })
      .where(and(eq(payments.id, id), eq(payments.state, state), eq(payments.looks, looks))),
  )
