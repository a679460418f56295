import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Db } from '#shared/db/open'

/** What the rows of `from` that are so come to, as part of `sumOf`; 0 of none. */
export const sumWhere = (amount: SQLWrapper, from: SQLWrapper, isSo: SQL): SQL =>
  sql`(select coalesce(sum(${amount}), 0) from ${from} where ${isSo})`

/** All parts in one statement, so that what moves from one to another meanwhile counts in one of them. */
export async function sumOf(db: Db, parts: readonly SQL[]): Promise<bigint> {
  const all = sql.join([...parts], sql` + `)
  const [row] = await db.execute<{ sum: string }>(sql`select (${all})::text sum`)
  return BigInt(row!.sum)
}
