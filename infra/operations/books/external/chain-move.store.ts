import { and, asc, desc, eq, inArray, lte, sql } from 'drizzle-orm'
import type { Db, Tx } from '#platform/db/open'
import { chainMoves } from '../schema.store'

export type ChainMove = typeof chainMoves.$inferSelect
type NewChainMove = typeof chainMoves.$inferInsert

/** Rows per statement, which keeps it below Postgres's limit on parameters. */
const rowsMax = 1_000

/** Inserts movements. Existing rows stay as they are, because a log never changes. */
export async function insertMoves(tx: Tx, moves: readonly NewChainMove[]): Promise<void> {
  for (let start = 0; start < moves.length; start += rowsMax)
    await tx
      .insert(chainMoves)
      .values(moves.slice(start, start + rowsMax))
      .onConflictDoNothing()
}

export const newestMove = async (db: Db): Promise<ChainMove | undefined> =>
  (await db.select().from(chainMoves).orderBy(desc(chainMoves.block)).limit(1))[0]

const withTreasury = inArray(chainMoves.kind, ['mint', 'burn', 'in', 'out'])

export type LogPlace = { readonly block: bigint; readonly logIndex: number }

export const movesBehind = (tx: Tx, behind: LogPlace, toBlock: bigint, limit: number): Promise<ChainMove[]> =>
  tx
    .select()
    .from(chainMoves)
    .where(
      and(
        withTreasury,
        sql`(${chainMoves.block}, ${chainMoves.logIndex}) > (${behind.block.toString()}::bigint, ${behind.logIndex}::int)`,
        lte(chainMoves.block, toBlock),
      ),
    )
    .orderBy(asc(chainMoves.block), asc(chainMoves.logIndex))
    .limit(limit)

export const movesOfKeys = async (tx: Tx, keys: readonly string[]): Promise<ChainMove[]> =>
  keys.length === 0
    ? []
    : tx
        .select()
        .from(chainMoves)
        .where(and(withTreasury, inArray(chainMoves.key, [...keys])))

export const findMove = async (tx: Tx, txHash: string, logIndex: number): Promise<ChainMove | undefined> =>
  (
    await tx
      .select()
      .from(chainMoves)
      .where(and(eq(chainMoves.txHash, txHash), eq(chainMoves.logIndex, logIndex)))
  )[0]
