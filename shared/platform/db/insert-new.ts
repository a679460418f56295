import { sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Db } from '#platform/db/open'

/** Inserts a row unless there is one with its key. Returns true if it is new. */
export async function insertNew<T extends PgTable>(db: Db, table: T, row: T['$inferInsert']): Promise<boolean> {
  const made = await db
    .insert(table)
    .values(row as never)
    .onConflictDoNothing()
    .returning({ isNew: sql`true` })
  return made.length === 1
}
