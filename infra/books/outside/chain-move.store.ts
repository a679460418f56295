import { desc } from 'drizzle-orm'
import type { Db, Tx } from '#shared/db/open'
import { chainMoves } from '../schema.store'

export type ChainMove = typeof chainMoves.$inferSelect
type NewChainMove = typeof chainMoves.$inferInsert

/** As many as one statement takes, with room. */
const rowsMax = 1_000

/** A log is never another than it was: what is there already stays. */
export async function insertMoves(tx: Tx, moves: readonly NewChainMove[]): Promise<void> {
  for (let start = 0; start < moves.length; start += rowsMax)
    await tx
      .insert(chainMoves)
      .values(moves.slice(start, start + rowsMax))
      .onConflictDoNothing()
}

export const newestMove = async (db: Db): Promise<ChainMove | undefined> =>
  (await db.select().from(chainMoves).orderBy(desc(chainMoves.block)).limit(1))[0]
