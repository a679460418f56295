import { and, eq, type SQL, sql } from 'drizzle-orm'
import { maybeSince } from '#shared/db/clock'
import type { Db } from '#shared/db/open'
import { sumOf, sumWhere } from '#shared/db/sum'
import { cashouts } from '../cashout.store'

const { state, ausdMicro, fiatMinor, paidAt, changedAt, updatedAt } = cashouts

/** The row's own note of a change comes after the time of the step: for the index. */
const changedSince = (at: Date) =>
  sql`${changedAt} >= ${at.toISOString()}::timestamptz - interval '10 seconds'`

/**
 * AUSD (10⁻⁶) of cash-outs that the treasury has, or is about to have, and that is not its own: until
 * the bank was paid or it went back; what went back after `readAt` included.
 */
export function sumOwed(db: Db, readAt: Date): Promise<bigint> {
  const isOpen = sql`${state} in ('taking', 'taken', 'paying', 'returning')`
  const isReturned = and(
    changedSince(readAt),
    eq(state, 'returned'),
    maybeSince(updatedAt, readAt),
  )!
  return sumOf(db, [
    sumWhere(ausdMicro, cashouts, isOpen),
    sumWhere(ausdMicro, cashouts, isReturned),
  ])
}

/**
 * Rupiah that we promised and that the provider's balance of `readAt` may still contain: what is not
 * paid, and what was paid since.
 */
export const sumUnpaid = (db: Db, readAt: Date): Promise<bigint> => sumOf(db, unpaidBy(readAt))

/** The same as parts of a sum. */
export function unpaidBy(readAt: Date): SQL[] {
  const isOpen = sql`${state} in ('taking', 'taken', 'paying')`
  const isPaid = and(changedSince(readAt), eq(state, 'paid'), maybeSince(paidAt, readAt))!
  return [sumWhere(fiatMinor, cashouts, isOpen), sumWhere(fiatMinor, cashouts, isPaid)]
}
