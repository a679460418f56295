import { and, desc, eq, gt, gte, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import { fromNow } from '#platform/db/columns'
import type { Db } from '#platform/db/open'
import { pausedSince } from '#platform/db/pause.store'
import { payments } from '../payment.table'
import type { TopupTotals } from '../price'
import { pauses } from '../schema.store'

/**
 * Sums the payments that are, or may become, a wallet's collateral: open checkouts, and payments that the
 * limits admitted on the UTC day of `now`. A checkout that expired unpaid counts, because it reserved AUSD of
 * the treasury.
 */
export async function sumTopups(
  db: Db,
  wallet: `0x${string}`,
  now: Date,
): Promise<TopupTotals & { pausedSince: string | null }> {
  const { state, topupMicro, topupAt, expiresAt, checkoutId } = payments
  const day = new Date(`${now.toISOString().slice(0, 10)}T00:00:00Z`)
  const ended = sql`${expiresAt} <= ${now.toISOString()}`
  const open = sql`${state} = 'opening' or (${state} = 'awaiting_payment' and not ${ended})`
  const isVoid = sql`${state} in ('refunded', 'replaced') or (${state} = 'expired' and ${checkoutId} is null)`
  const sumWhere = (what: SQL) => sql<string>`coalesce(sum(${topupMicro}) filter (where ${what}), 0)::text`
  const [totals] = await db
    .select({
      openCount: sql<number>`count(*) filter (where ${open})::int`,
      openMicro: sumWhere(open),
      pausedSince: pausedSince(pauses),
      dayMicro: sumWhere(sql`${topupAt} >= ${day.toISOString()} and not (${isVoid})`),
    })
    .from(payments)
    .where(
      and(
        eq(payments.wallet, wallet),
        gt(topupMicro, 0n),
        or(inArray(state, ['opening', 'awaiting_payment']), gte(topupAt, day)),
      ),
    )
  const { openCount, openMicro, dayMicro, pausedSince: since } = totals!
  return { pausedSince: since, openCount, openMicro: BigInt(openMicro), dayMicro: BigInt(dayMicro) }
}

export async function countUnpaidSettlements(db: Db, wallet: `0x${string}`): Promise<number> {
  const rows = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(payments)
    .where(
      and(
        eq(payments.wallet, wallet),
        eq(payments.kind, 'settlement'),
        isNull(payments.providerPaymentId),
        sql`${payments.createdAt} > ${fromNow(-3_600_000)}`,
      ),
    )
  return rows[0]!.count
}

/**
 * Counts the checkouts that a wallet cancelled on the UTC day of `now`. A cancelled checkout ends at once, so
 * its end is the time of the cancellation.
 */
export async function countCancelled(db: Db, wallet: `0x${string}`, now: Date): Promise<number> {
  const { createdAt, expiresAt, reason } = payments
  const dayMs = Date.parse(`${now.toISOString().slice(0, 10)}T00:00:00Z`)
  const rows = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(payments)
    .where(
      and(
        eq(payments.wallet, wallet),
        eq(reason, 'cancelled'),
        gte(expiresAt, new Date(dayMs)),
        // This condition only lets Postgres use the index: a checkout is open for less than a day.
        gte(createdAt, new Date(dayMs - 86_400_000)),
      ),
    )
  return rows[0]!.count
}

/** Sums the settlements that are paid but not on the chain, or on the chain only since `readAt` (10⁻⁶ AUSD). */
export async function sumRepaying(db: Db, wallet: `0x${string}`, readAt: Date): Promise<bigint> {
  const { kind, state, creditedAt, onchainMicro } = payments
  const rows = await db
    .select({ micro: sql<string>`coalesce(sum(${onchainMicro}), 0)::text` })
    .from(payments)
    .where(and(eq(payments.wallet, wallet), eq(kind, 'settlement'), or(eq(state, 'paid'), gte(creditedAt, readAt))))
  return BigInt(rows[0]!.micro)
}

export async function lastRepaidAt(db: Db, wallet: `0x${string}`): Promise<Date | null> {
  const rows = await db
    .select({ at: payments.creditedAt })
    .from(payments)
    .where(and(eq(payments.wallet, wallet), eq(payments.kind, 'settlement'), isNotNull(payments.creditedAt)))
    .orderBy(desc(payments.creditedAt))
    .limit(1)
  return rows[0]?.at ?? null
}
