import type { SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import type { Sql } from 'postgres'

const dialect = new PgDialect()

/** A predicate that a service publishes, for a query of its table without an alias. */
export const predicate = (sql: Sql, part: SQL) => sql.unsafe(dialect.sqlToQuery(part.inlineParams()).sql)

/** AUSD in 10⁻⁶ that an operation moves, as text; null if it moves none. */
export const operationMicro = (sql: Sql) => sql`
  coalesce(payload ->> 'ausd', nullif(leaves_micro, 0)::text)`

/** Losses that are neither recovered nor waived. */
export const isOwed = (sql: Sql) => sql`cleared_at is null and made_good_micro < lost_micro`

/** By the clock that dates rows. */
export async function nowOf(sql: Sql): Promise<Date> {
  const [found] = await sql<[{ now: Date }]>`select now()`
  return found.now
}
