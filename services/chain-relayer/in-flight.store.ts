import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Db } from '#shared/db/open'
import { operations } from './operation.store'

/** AUSD (10⁻⁶) that operations under way will still move out of the wallet, but for one nonce. */
export async function leavingMicro(db: Db, wallet: string, butNonce: string): Promise<bigint> {
  const rows = await db
    .select({ leaving: sql<string>`coalesce(sum(${operations.leavesMicro}), 0)::text` })
    .from(operations)
    .where(
      and(
        eq(operations.wallet, wallet.toLowerCase() as `0x${string}`),
        inArray(operations.kind, ['take', 'send']),
        inArray(operations.state, ['waiting', 'assigned']),
        sql`${operations.authorizationNonce} <> ${butNonce.toLowerCase()}`,
      ),
    )
  return BigInt(rows[0]!.leaving)
}

/** Whether another kind of operation already uses this authorization. */
export async function isTaken(db: Db, wallet: string, nonce: string): Promise<boolean> {
  const rows = await db
    .select({ id: operations.id })
    .from(operations)
    .where(
      and(
        eq(operations.wallet, wallet.toLowerCase() as `0x${string}`),
        eq(operations.kind, 'take'),
        sql`${operations.authorizationNonce} = ${nonce.toLowerCase()}`,
      ),
    )
    .limit(1)
  return rows.length > 0
}

/** How much is under way and since when: the figures of `nats micro stats`. */
export async function countOpen(db: Db) {
  const rows = await db
    .select({
      waiting: sql<number>`count(*) filter (where ${operations.state} = 'waiting')::int`,
      assigned: sql<number>`count(*) filter (where ${operations.state} = 'assigned')::int`,
      oldest: sql<string | null>`min(${operations.createdAt})`,
    })
    .from(operations)
    .where(inArray(operations.state, ['waiting', 'assigned']))
  const { waiting, assigned, oldest } = rows[0]!
  return {
    waiting,
    assigned,
    oldestOpenMs: oldest === null ? null : Date.now() - Date.parse(oldest),
  }
}
