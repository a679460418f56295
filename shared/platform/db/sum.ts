import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Db } from '#platform/db/open'

/** Returns the sum over the rows of `from` that match, 0 if none, as a part of `sumOf`. */
export const sumWhere = (amount: SQLWrapper, from: SQLWrapper, isSo: SQL): SQL =>
  sql`(select coalesce(sum(${amount}), 0) from ${from} where ${isSo})`

/**
 * Adds up the parts in one expression, so that an amount moving from one part to another is counted
 * once.
 */
export const totalOf = (parts: readonly SQL[]): SQL => sql`(${sql.join([...parts], sql` + `)})`

/** Runs the same sum as a statement. */
export async function sumOf(db: Db, parts: readonly SQL[]): Promise<bigint> {
  const [row] = await db.execute<{ sum: string }>(sql`select ${totalOf(parts)}::text sum`)
  return BigInt(row!.sum)
}
