import { asc, gt } from 'drizzle-orm'
import type { Opened } from '#shared/ledger/opening'
import { payments } from '../payment.store'
import { reversals } from '../refunds/refund.store'
import { givenUpItem, givenUpLines } from './book'
import { positionOf } from './position'

/** What was there before the journal: payments, and what was given up of reversals. */
export const openedTables: readonly Opened[] = [
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
  },
]
