import { asc, gt } from 'drizzle-orm'
import type { BookedTable } from '#shared/ledger/keeping'
import { cashouts, lockCashout } from '../cashout.store'
import { positionOf } from './position'

/** Booked tables of this service. */
export const bookedTables: readonly BookedTable[] = [
  {
    next: async (tx, afterId, rowsMax) => {
      const rows = await tx
        .select()
        .from(cashouts)
        .where(gt(cashouts.id, afterId))
        .orderBy(asc(cashouts.id))
        .limit(rowsMax)
        .for('update')
      return new Map(rows.map((row) => [row.id, positionOf(row)]))
    },
    find: async (tx, item) => {
      const row = await lockCashout(tx, item)
      return row && positionOf(row)
    },
  },
]
