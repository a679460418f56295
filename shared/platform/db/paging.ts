import { desc, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'

/** The last row of the previous page, exclusive in the order (createdAt, id). The time is in ISO 8601, UTC. */
export type PageCursor = { readonly createdAt: string; readonly id: string }

const beforeAll = { createdAt: 'infinity', id: '' }

/** Returns the values for a prepared statement whose `where` is `newestFirst(…).afterCursor`. */
export const cursorValues = (cursor: PageCursor | undefined) => {
  const { createdAt, id } = cursor ?? beforeAll
  return { cursorAt: createdAt, cursorId: id }
}

/**
 * Returns the order of a list. Lists of several services are merged, so all of them order ids of the same time by their
 * bytes.
 */
export function newestFirst(createdAt: AnyPgColumn, id: AnyPgColumn) {
  const idBytes = sql`${id} collate "C"`
  const [cursorAt, cursorId] = [sql.placeholder('cursorAt'), sql.placeholder('cursorId')]
  const afterCursor: SQL = sql`(${createdAt}, ${idBytes})
    < (${cursorAt}::timestamptz, ${cursorId}::text collate "C")`
  return { order: [desc(createdAt), sql`${idBytes} desc`] as const, afterCursor }
}
