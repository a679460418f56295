import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Db } from '#platform/db/open'

/** Returns a part of `sumOf`, which is 0 if no row matches. */
export const sumWhere = (amount: SQLWrapper, from: SQLWrapper, isSo: SQL): SQL =>
  sql`(select coalesce(sum(${amount}), 0) from ${from} where ${isSo})`

/** Adds the parts in one expression, so that an amount moving between parts is counted once. */
const totalOf = (parts: readonly SQL[]): SQL => sql`(${sql.join([...parts], sql` + `)})`

export async function sumOf(db: Db, parts: readonly SQL[]): Promise<bigint> {
  const [row] = await db.execute<{ sum: string }>(sql`select ${totalOf(parts)}::text sum`)
  return BigInt(row!.sum)
}
