import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import { integer, type PgSchema, text } from 'drizzle-orm/pg-core'
import type { Static } from 'typebox'
import { at } from '#shared/db/columns'
import type { Db } from '#shared/db/open'
import type { DeedOutcome } from '#shared/messages/deeds'

/**
 * What an operator stopped for a while. Each service has a row for what it can stop, and reads it in a
 * statement that it runs anyway when something begins: so it holds for every copy at once, outlasts
 * restarts, and costs nothing while nothing happens.
 */
export const pauseTable = <S extends string>(schema: PgSchema<S>) =>
  schema.table('pauses', {
    what: text('what').primaryKey(),
    /** Null: it goes on. */
    since: at('since'),
    /** How often it was paused or resumed: which state an operator's deed answers. */
    revision: integer('revision').notNull(),
    setBy: text('set_by').notNull(),
    reason: text('reason').notNull(),
    changedAt: at('changed_at').notNull().defaultNow(),
  })
export type PauseTable = ReturnType<typeof pauseTable>

/** As a column of any statement: since when it is paused, in ISO 8601; null: it is not. */
export const pausedSince = (table: PauseTable): SQL<string | null> =>
  sql<string | null>`(select to_char(min(${table.since}) at time zone 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS"Z"') from ${table})`

/** As a condition of any statement. */
export const isPaused = (table: PauseTable): SQL =>
  sql`exists (select from ${table} where ${table.since} is not null)`

type Change = { readonly what: string; readonly by: string; readonly reason: string }

/** Pauses it, or lets it go on. What is so already stays as it is, and is told. */
export async function setPause(
  db: Db,
  table: PauseTable,
  { what, by: setBy, reason, to }: Change & { to: 'paused' | 'running' },
): Promise<Static<typeof DeedOutcome>> {
  const set = { setBy, reason, changedAt: sql`now()` }
  const again = { ...set, revision: sql`${table.revision} + 1` }
  const changed =
    to === 'paused'
      ? await db
          .insert(table)
          .values({ what, ...set, since: sql`now()`, revision: 1 })
          .onConflictDoUpdate({
            target: table.what,
            set: { ...again, since: sql`now()` },
            setWhere: isNull(table.since),
          })
          .returning()
      : await db
          .update(table)
          .set({ ...again, since: null })
          .where(and(eq(table.what, what), isNotNull(table.since)))
          .returning()
  const rows =
    changed.length > 0 ? changed : await db.select().from(table).where(eq(table.what, what))
  const row = rows[0]
  if (!row) return { done: `${what} was never paused` }
  const word = changed.length > 0 ? 'from now on' : `before, by ${row.setBy} (${row.reason})`
  return { done: `${what} ${to} since ${row.changedAt.toISOString()}, ${word}` }
}
