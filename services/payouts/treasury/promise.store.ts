import { and, eq, type SQL, sql } from 'drizzle-orm'
import { maybeSince } from '#platform/db/clock'
import type { Db } from '#platform/db/open'
import { sumOf, sumWhere } from '#platform/db/sum'
import { cashouts, owesAusd, owesFiat } from '../cashout.table'

const { state, ausdMicro, fiatMinor, paidAt, changedAt, updatedAt } = cashouts

/** Condition that lets Postgres use the index; `changedAt` is later than the time of the step. */
const changedSince = (at: Date) => sql`${changedAt} >= ${at.toISOString()}::timestamptz - interval '10 seconds'`

/** Sums the AUSD (10⁻⁶) owed until the bank is paid or the AUSD returned, and returns since `readAt`. */
export function sumPromisedAusd(db: Db, readAt: Date): Promise<bigint> {
  const isReturned = and(changedSince(readAt), eq(state, 'returned'), maybeSince(updatedAt, readAt))!
  return sumOf(db, [sumWhere(ausdMicro, cashouts, owesAusd), sumWhere(ausdMicro, cashouts, isReturned)])
}

/** Sums the promised rupiah that the balance read at `readAt` still contains: unpaid, or paid since. */
export const sumPromisedFiat = (db: Db, readAt: Date): Promise<bigint> => sumOf(db, unpaidBy(readAt))

export function unpaidBy(readAt: Date): SQL[] {
  const isPaid = and(changedSince(readAt), eq(state, 'paid'), maybeSince(paidAt, readAt))!
  return [sumWhere(fiatMinor, cashouts, owesFiat), sumWhere(fiatMinor, cashouts, isPaid)]
}
