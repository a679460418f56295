import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Db } from '#platform/db/open'
import type { Oldest } from '#platform/metrics/state-limits'

/** Finds the oldest item per state, by the database's clock. */
export async function findOldest<S extends string>(
  db: Db,
  from: {
    table: PgTable
    state: PgColumn
    id: PgColumn
    since: PgColumn | SQL
    awaited: SQL | undefined
  },
): Promise<Oldest<S>[]> {
  const { table, state, id, since, awaited } = from
  const ageMs = sql<number>`greatest(0, extract(epoch from now() - min(${since})) * 1000)::float8`
  const rows = await db
    .select({
      state: sql<S>`${state}`,
      count: sql<number>`count(*)::int`,
      oldestMs: ageMs,
      id: sql<string>`(array_agg(${id} order by ${since}))[1]`,
    })
    .from(table)
    .where(awaited)
    .groupBy(state)
  return rows
}
