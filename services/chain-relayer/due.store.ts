import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { Db } from '#shared/db/open'
import { racing } from './operation'
import { type Operation, operations } from './operation.store'

const open = sql`('waiting', 'assigned')`
/** The same table under another name: what else there is of this wallet or cause. */
const other = sql.raw('"chain_relayer"."operation" as "other"')

/**
 * Waiting operations whose time has come: what races the end of a hold first, then what stops a
 * wallet, then the rest, oldest first. Held back are a revocation while what it revokes is under
 * way, and a verdict on a wallet while another of its kind is: lanes do not keep order.
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
          where other.kind in ('credit', 'repay') and other.cause = ${operations.cause}
          and other.state in ${open}))`,
        sql`not (${operations.kind} in ('verify', 'freeze') and exists (select 1 from ${other}
          where other.kind = ${operations.kind} and other.wallet = ${operations.wallet}
          and other.state = 'assigned'))`,
      ),
    )
    .orderBy(urgency, asc(operations.createdAt), asc(operations.id))
    .limit(rowsMax)
  return rows as Operation[]
}

const urgency = sql`case when ${inArray(operations.kind, [...racing])} then 0
  when ${operations.kind} = 'freeze' then 1 else 2 end`

/** The highest revision that was ever ordered of this kind of verdict on this wallet. */
export async function newestRevision(
  db: Db,
  { kind, wallet }: Pick<Operation, 'kind' | 'wallet'>,
): Promise<bigint> {
  const rows = await db
    .select({ newest: sql<string>`coalesce(max(${operations.revision}), 0)::text` })
    .from(operations)
    .where(and(eq(operations.kind, kind), eq(operations.wallet, wallet)))
  return BigInt(rows[0]!.newest)
}
