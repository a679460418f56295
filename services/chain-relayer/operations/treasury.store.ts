import { and, eq, gt, inArray, or, sql } from 'drizzle-orm'
import type { Db } from '#platform/db/open'
import { isOpen, operations } from './operation.table'

/** Predicate for operations that pay out of the treasury. Postgres uses the index only for this spelling. */
const outOfTreasury = sql`${operations.kind} in ('credit', 'repay', 'return', 'giveback')`

/**
 * Returns the newest block in which AUSD is known to have left the treasury. An older chain state overstates the
 * balance.
 */
export async function newestTreasurySpending(db: Db): Promise<bigint> {
  const rows = await db
    .select({ block: sql<string>`coalesce(max(${operations.blockNumber}), 0)::text` })
    .from(operations)
    .where(and(outOfTreasury, eq(operations.state, 'settled')))
  return BigInt(rows[0]!.block)
}

/** Sums the ordered AUSD (10⁻⁶) that the state at `blockNumber` lacks. */
export async function orderedMicro(db: Db, blockNumber: bigint): Promise<bigint> {
  const rows = await db
    .select({
      micro: sql<string>`coalesce(sum((${operations.payload} ->> 'ausd')::numeric), 0)::text`,
    })
    .from(operations)
    .where(
      and(
        inArray(operations.kind, ['credit', 'repay']),
        or(
          isOpen(operations),
          and(outOfTreasury, eq(operations.state, 'settled'), gt(operations.blockNumber, blockNumber)),
        ),
      ),
    )
  return BigInt(rows[0]!.micro)
}
