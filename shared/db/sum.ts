import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Db } from '#shared/db/open'

/** What the rows of `from` that are so come to, as part of `sumOf`; 0 of none. */
export const sumWhere = (amount: SQLWrapper, from: SQLWrapper, isSo: SQL): SQL =>
  sql`(select coalesce(sum(${amount}), 0) from ${from} where ${isSo})`

/** All parts in one expression, so that what moves from one to another meanwhile counts in one of them. */
export const totalOf = (parts: readonly SQL[]): SQL => sql`(${sql.join([...parts], sql` + `)})`

/** The same as a statement. */
export async function sumOf(db: Db, parts: readonly SQL[]): Promise<bigint> {
  const [row] = await db.execute<{ sum: string }>(sql`select ${totalOf(parts)}::text sum`)
  return BigInt(row!.sum)
}
