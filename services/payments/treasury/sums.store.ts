import { and, desc, eq, gt, gte, inArray, isNotNull, isNull, notInArray, or, type SQL, sql } from 'drizzle-orm'
import { fromNow } from '#platform/db/columns'
import { lockNamed } from '#platform/db/lock'
import type { Db, Tx } from '#platform/db/open'
import { pausedSince } from '#platform/db/pause.store'
import { topupsIn } from '#shared/messages/payments'
import { countryBy } from '#shared/money/countries'
import { dayEndMs, dayStartMs, homePair } from '#shared/money/day'
import { type Pair, pairs } from '#shared/money/pair'
import { uncountedStates } from '../payment'
import { payments } from '../payment.table'
import type { TopupTotals } from '../price'
import { pauses } from '../schema.store'

/**
 * Sums the payments that are, or may become, a wallet's collateral: open checkouts, and payments that the
 * limits admitted today, each on the day of its own country. A checkout that expired unpaid counts, because it reserved AUSD of
 * the treasury; only paid and open ones count for the number of the day. `resetsAtMs` is the end of the last day among those counted.
 */
export async function sumTopups(
  db: Db,
  wallet: `0x${string}`,
  now: Date,
  /** Pair of the top-up that is asked for; a country's pause counts only for it. */
  wanted?: Pair,
): Promise<TopupTotals & { pausedSince: string | null; resetsAtMs: number }> {
  const { pair, state, topupMicro, topupAt, expiresAt, checkoutId, providerPaymentId } = payments
  const nowMs = now.getTime()
  const startOf = (one: Pair) => new Date(dayStartMs(one, nowMs)).toISOString()
  const earliest = pairs.map(startOf).sort()[0]!
  const ended = sql`${expiresAt} <= ${now.toISOString()}`
  const open = sql`${state} = 'opening' or (${state} = 'awaiting_payment' and not ${ended})`
  const isVoid = sql`${state} in ('refunded', 'replaced') or (${state} = 'expired' and ${checkoutId} is null)`
  // The provider charges for a payment that is refunded, too.
  const isPaid = sql`(${providerPaymentId} is not null or ${open})`
  const isOfDay = sql.join(
    pairs.map((one) => sql`(${pair} = ${one} and ${topupAt} >= ${startOf(one)})`),
    sql` or `,
  )
  const sumWhere = (what: SQL) => sql<string>`coalesce(sum(${topupMicro}) filter (where ${what}), 0)::text`
  const [totals] = await db
    .select({
      openCount: sql<number>`count(*) filter (where ${open})::int`,
      openMicro: sumWhere(open),
      dayCount: sql<number>`count(*) filter (where (${isOfDay}) and ${isPaid})::int`,
      pausedSince: pausedSince(pauses, ['topups', ...(wanted ? [topupsIn(countryBy('pair', wanted).country)] : [])]),
      days: sql<Record<string, string>>`json_build_object(${sql.join(
        pairs.map((one) => {
          const isToday = sql`${pair} = ${one} and ${topupAt} >= ${startOf(one)} and not (${isVoid})`
          return sql`${one}::text, ${sumWhere(isToday)}`
        }),
        sql`, `,
      )})`,
    })
    .from(payments)
    .where(
      and(
        eq(payments.wallet, wallet),
        gt(topupMicro, 0n),
        or(inArray(state, ['opening', 'awaiting_payment']), gte(topupAt, new Date(earliest))),
      ),
    )
  const { openCount, openMicro, dayCount, days, pausedSince: since } = totals!
  const dayMicro = pairs.reduce((sum, one) => sum + BigInt(days[one] ?? 0), 0n)
  const used = pairs.filter((one) => BigInt(days[one] ?? 0) > 0n)
  const resetsAtMs = Math.max(...(used.length > 0 ? used : [homePair]).map((one) => dayEndMs(one, nowMs)))
  return { pausedSince: since, openCount, openMicro: BigInt(openMicro), dayCount, dayMicro, resetsAtMs }
}

/** Serializes the top-ups of all wallets, whose sum has a limit. */
export const lockAllTopups = (tx: Tx) => lockNamed(tx, 'all top-ups')

/**
 * Sums the top-ups of all wallets of this day in Jakarta (10⁻⁶ AUSD). One that expired unpaid counts only for its wallet, so that
 * no wallet uses up the limit of all without paying; money that arrives late for it must fit the limit again. A row of today was
 * changed today, which lets Postgres use the index.
 */
export async function sumAllTopups(db: Db, now: Date): Promise<bigint> {
  const { state, topupMicro, topupAt, changedAt } = payments
  const start = new Date(dayStartMs(homePair, now.getTime()))
  const rows = await db
    .select({ micro: sql<string>`coalesce(sum(${topupMicro}), 0)::text` })
    .from(payments)
    .where(
      and(
        gte(changedAt, new Date(start.getTime() - 60_000)),
        gte(topupAt, start),
        gt(topupMicro, 0n),
        notInArray(state, [...uncountedStates]),
      ),
    )
  return BigInt(rows[0]!.micro)
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
 * Counts the checkouts that a wallet cancelled today, each on the day of its own country. A cancelled checkout ends at once, so
 * its end is the time of the cancellation.
 */
export async function countCancelled(db: Db, wallet: `0x${string}`, now: Date): Promise<number> {
  const { pair, createdAt, expiresAt, reason } = payments
  const startOf = (one: Pair) => dayStartMs(one, now.getTime())
  const rows = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(payments)
    .where(
      and(
        eq(payments.wallet, wallet),
        eq(reason, 'cancelled'),
        or(...pairs.map((one) => and(eq(pair, one), gte(expiresAt, new Date(startOf(one)))))),
        // This condition only lets Postgres use the index: a checkout is open for less than a day.
        gte(createdAt, new Date(Math.min(...pairs.map(startOf)) - 86_400_000)),
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
