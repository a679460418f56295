import { desc, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'

/** The last row of the page before; exclusive in the order (createdAt, id). ISO 8601, UTC. */
export type Cursor = { readonly createdAt: string; readonly id: string }

/**
 * Newest first, page by page. The lists of several services are merged into one, so all of them order
 * ids of the same time by their bytes.
 */
export function newestFirst(createdAt: AnyPgColumn, id: AnyPgColumn) {
  const idBytes = sql`${id} collate "C"`
  return {
    order: [desc(createdAt), sql`${idBytes} desc`] as const,
    /** What comes after the cursor; everything when there is none. */
    after: (cursor: Cursor | undefined): SQL | undefined =>
      cursor &&
      sql`(${createdAt}, ${idBytes}) < (${cursor.createdAt}::timestamptz, ${cursor.id} collate "C")`,
  }
}
