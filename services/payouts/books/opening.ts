import { asc, gt } from 'drizzle-orm'
import type { Opened } from '#shared/ledger/opening'
import { cashouts } from '../cashout.store'
import { positionOf } from './position'

/** What was there before the journal. */
export const openedTables: readonly Opened[] = [
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
  },
]
