import { asc, eq, gt } from 'drizzle-orm'
import type { BookedTable } from '#shared/ledger/keeping'
import { lockPayment, payments } from '../payment.store'
import { reversals } from '../refunds/refund.store'
import { givenUpItem, givenUpLines } from './book'
import { positionOf } from './position'

/** Booked tables: payments, and waived parts of reversals. */
export const bookedTables: readonly BookedTable[] = [
  {
    next: async (tx, afterId, rowsMax) => {
      const rows = await tx
        .select()
        .from(payments)
        .where(gt(payments.id, afterId))
        .orderBy(asc(payments.id))
        .limit(rowsMax)
        .for('update')
      return new Map(rows.map((row) => [row.id, positionOf(row)]))
    },
    find: async (tx, item) => {
      const row = await lockPayment(tx, item)
      return row && positionOf(row)
    },
  },
  {
    next: async (tx, afterItem, rowsMax) => {
      const rows = await tx
        .select()
        .from(reversals)
        .where(gt(reversals.paymentId, afterItem.slice(0, afterItem.indexOf('/'))))
        .orderBy(asc(reversals.paymentId))
        .limit(rowsMax)
        .for('update')
      return new Map(rows.map((row) => [givenUpItem(row), givenUpLines(row)]))
    },
    find: async (tx, item) => {
      const [paymentId = '', suffix] = item.split('/')
      if (suffix === undefined) return undefined
      const rows = await tx
        .select()
        .from(reversals)
        .where(eq(reversals.paymentId, paymentId))
        .for('update')
      return rows[0] && givenUpLines(rows[0])
    },
  },
]
