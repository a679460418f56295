import { and, asc, eq, sql } from 'drizzle-orm'
import type { Db } from '#shared/db/open'
import { type Operation, operations } from './operation.store'

const open = sql`('waiting', 'assigned')`
/** The same table under another name: what else there is of this wallet or cause. */
const other = sql.raw('"chain_relayer"."operation" as "other"')

/**
 * Waiting operations whose time has come, oldest first. Held back are a revocation while its credit
 * is under way, and a verdict while another verdict on the same wallet is: lanes do not keep order.
 */
export async function findDue(db: Db, rowsMax: number): Promise<Operation[]> {
  const rows = await db
    .select()
    .from(operations)
    .where(
      and(
        eq(operations.state, 'waiting'),
        sql`${operations.notBefore} <= now()`,
        sql`not (${operations.kind} = 'revoke' and exists (select 1 from ${other}
          where other.kind = 'credit' and other.cause = ${operations.cause}
          and other.state in ${open}))`,
        sql`not (${operations.kind} = 'verify' and exists (select 1 from ${other}
          where other.kind = 'verify' and other.wallet = ${operations.wallet}
          and other.state = 'assigned'))`,
      ),
    )
    .orderBy(asc(operations.createdAt), asc(operations.id))
    .limit(rowsMax)
  return rows as Operation[]
}

/** The highest revision of a verdict on this wallet that was ever ordered. */
export async function newestRevision(db: Db, wallet: `0x${string}`): Promise<bigint> {
  const rows = await db
    .select({ newest: sql<string>`coalesce(max(${operations.revision}), 0)::text` })
    .from(operations)
    .where(and(eq(operations.kind, 'verify'), eq(operations.wallet, wallet)))
  return BigInt(rows[0]!.newest)
}
