import type { SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import type { Sql } from 'postgres'

const dialect = new PgDialect()

/** Turns a predicate that a service publishes into a condition on its table without an alias. */
export const predicate = (sql: Sql, part: SQL) => sql.unsafe(dialect.sqlToQuery(part.inlineParams()).sql)

/** Selects the AUSD that an operation moves, in 10⁻⁶ and as text. Null if it moves none. */
export const operationMicro = (sql: Sql) => sql`
  coalesce(payload ->> 'ausd', nullif(leaves_micro, 0)::text)`

/** Selects losses that are neither recovered nor written off. */
export const isOwed = (sql: Sql) => sql`cleared_at is null and made_good_micro < lost_micro`

/** Returns the time of the database, whose clock also dates the rows. */
export async function nowOf(sql: Sql): Promise<Date> {
  const [found] = await sql<[{ now: Date }]>`select now()`
  return found.now
}
