import { eq, sql } from 'drizzle-orm'
import { isFromAhead } from '#platform/db/columns'
import type { Db } from '#platform/db/open'
import { balances } from '../schema.store'

export type BalanceRow = typeof balances.$inferSelect

export const findBalance = async (db: Db, place: string): Promise<BalanceRow | undefined> =>
  (await db.select().from(balances).where(eq(balances.place, place)))[0]

/**
 * Stores a balance, unless another instance has stored a later reading. A reading from the future is of a clock that was
 * ahead.
 */
export const recordBalance = (db: Db, balance: typeof balances.$inferInsert) =>
  db
    .insert(balances)
    .values(balance)
    .onConflictDoUpdate({
      target: [balances.place, balances.asset],
      set: {
        amount: sql`excluded.amount`,
        block: sql`excluded.block`,
        nonce: sql`excluded.nonce`,
        readAt: sql`excluded.read_at`,
      },
      setWhere: sql`${balances.block} <= excluded.block
        or (${balances.block} is null
          and (${balances.readAt} <= excluded.read_at or ${isFromAhead(balances.readAt)}))`,
    })
