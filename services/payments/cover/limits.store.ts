import { and, eq, gte, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { Db } from '#shared/db/open'
import { pausedSince } from '#shared/db/pause.store'
import { payments } from '../payment.store'
import type { TopupTotals } from '../price'
import { pauses } from '../schema.store'

/**
 * Sums a wallet's open top-ups, and those of the UTC day of `now` that are open or brought money;
 * those that expired unpaid do not count, since late money is no option on the rate. Also returns
 * the start of a pause of top-ups, or null.
 */
export async function sumTopups(
  db: Db,
  wallet: `0x${string}`,
  now: Date,
): Promise<TopupTotals & { pausedSince: string | null }> {
  const { state, ausdMicro, createdAt, expiresAt, reason } = payments
  const day = new Date(`${now.toISOString().slice(0, 10)}T00:00:00Z`).toISOString()
  const ended = sql`${expiresAt} <= ${now.toISOString()}`
  const open = sql`${state} = 'opening' or (${state} = 'awaiting_payment' and not ${ended})`
  const counts = sql`${state} not in ('expired', 'refunded') or ${reason} = 'awaiting_rate'`
  const sumWhere = (what: SQL) =>
    sql<string>`coalesce(sum(${ausdMicro}) filter (where ${what}), 0)::text`
  const [totals] = await db
    .select({
      openCount: sql<number>`count(*) filter (where ${open})::int`,
      openMicro: sumWhere(open),
      pausedSince: pausedSince(pauses),
      dayMicro: sumWhere(sql`${createdAt} >= ${day} and (${counts})`),
    })
    .from(payments)
    .where(
      and(
        eq(payments.wallet, wallet),
        eq(payments.kind, 'topup'),
        or(
          inArray(payments.state, ['opening', 'awaiting_payment']),
          gte(payments.createdAt, new Date(day)),
        ),
      ),
    )
  const { openCount, openMicro, dayMicro, pausedSince: since } = totals!
  return { pausedSince: since, openCount, openMicro: BigInt(openMicro), dayMicro: BigInt(dayMicro) }
}
