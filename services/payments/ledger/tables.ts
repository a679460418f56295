import { eq } from 'drizzle-orm'
import type { FindPosition } from '#shared/ledger/keeping'
import { reversals } from '../losses/refund.store'
import { lockPayment } from '../payment.store'
import { reversalLines } from './book'
import { positionOf } from './position'

/** Lookups of positions: those of payments, and those of the waived parts of reversals. */
export const positions: readonly FindPosition[] = [
  async (tx, item) => {
    const row = await lockPayment(tx, item)
    return row && positionOf(row)
  },
  async (tx, item) => {
    const [paymentId = '', suffix] = item.split('/')
    if (suffix === undefined) return undefined
    const rows = await tx.select().from(reversals).where(eq(reversals.paymentId, paymentId)).for('update')
    return rows[0] && reversalLines(rows[0])
  },
]
