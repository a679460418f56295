import { and, eq, gte, sql } from 'drizzle-orm'
import type { Db } from '#shared/db/open'
import { cashouts } from '../cashout.store'

const { state, ausdMicro, fiatMinor, paidAt, changedAt, updatedAt } = cashouts

/** The row's own note of a change comes after the time of the step; clocks may differ by a second. */
const changedSince = (at: Date) =>
  sql`${changedAt} >= ${at.toISOString()}::timestamptz - interval '10 seconds'`

const microOf = sql<string>`coalesce(sum(${ausdMicro}), 0)::text`
const minorOf = sql<string>`coalesce(sum(${fiatMinor}), 0)::text`

/**
 * AUSD (10⁻⁶) of cash-outs that the treasury has, or is about to have, and that is not its own: until
 * the bank was paid or it went back; what went back after `since` included.
 */
export async function sumOwed(db: Db, since: Date): Promise<bigint> {
  const [open] = await db
    .select({ micro: microOf })
    .from(cashouts)
    .where(sql`${state} in ('taking', 'taken', 'paying', 'returning')`)
  const [returned] = await db
    .select({ micro: microOf })
    .from(cashouts)
    .where(and(changedSince(since), eq(state, 'returned'), gte(updatedAt, since)))
  return BigInt(open!.micro) + BigInt(returned!.micro)
}

/**
 * Rupiah that we promised and that the provider's balance of `readAt` may still contain: what is not
 * paid, and what was paid since.
 */
export async function sumUnpaid(db: Db, readAt: Date): Promise<bigint> {
  const [open] = await db
    .select({ minor: minorOf })
    .from(cashouts)
    .where(sql`${state} in ('taking', 'taken', 'paying')`)
  const [paid] = await db
    .select({ minor: minorOf })
    .from(cashouts)
    .where(and(changedSince(readAt), eq(state, 'paid'), gte(paidAt, readAt)))
  return BigInt(open!.minor) + BigInt(paid!.minor)
}
