import { and, eq, gt, inArray, or, sql } from 'drizzle-orm'
import type { Db } from '#shared/db/open'
import { isOpen, operations } from './operation.store'

// What orders take out of the treasury, as the table of operations has it.

/** Written out as in the index, so that Postgres uses it. */
const outOfTreasury = sql`${operations.kind} in ('credit', 'repay', 'return', 'giveback')`

/**
 * The newest block in which we know AUSD to have left the treasury; 0: none. A state of the chain
 * before it says too much of what is there.
 */
export async function newestSpending(db: Db): Promise<bigint> {
  const rows = await db
    .select({ block: sql<string>`coalesce(max(${operations.blockNumber}), 0)::text` })
    .from(operations)
    .where(and(outOfTreasury, eq(operations.state, 'settled')))
  return BigInt(rows[0]!.block)
}

/** AUSD (10⁻⁶) that credits and repayments take which the state at that block does not show. */
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
          and(
            outOfTreasury,
            eq(operations.state, 'settled'),
            gt(operations.blockNumber, blockNumber),
          ),
        ),
      ),
    )
  return BigInt(rows[0]!.micro)
}
