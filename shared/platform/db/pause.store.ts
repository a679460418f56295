import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import { integer, type PgSchema, text } from 'drizzle-orm/pg-core'
import type { Static } from 'typebox'
import { at, isOneOf } from '#platform/db/columns'
import type { Db } from '#platform/db/open'
import type { CommandOutcome } from '#shared/messages/operator-commands'

/**
 * Returns the table of pauses. It is read in a statement that runs anyway when such an operation begins, so a pause
 * applies to every instance at once.
 */
export const pauseTable = <S extends string>(schema: PgSchema<S>) =>
  schema.table('pauses', {
    what: text('what').primaryKey(),
    /** Start of the pause, or null while there is none. */
    since: at('since'),
    /** Number of pauses and resumes. */
    revision: integer('revision').notNull(),
    setBy: text('set_by').notNull(),
    reason: text('reason').notNull(),
    changedAt: at('changed_at').notNull().defaultNow(),
  })
export type PauseTable = ReturnType<typeof pauseTable>

/** Returns the start of the earliest pause of one of these operations in ISO 8601, or null if none is paused. */
export const pausedSince = (table: PauseTable, whats: readonly string[]): SQL<string | null> =>
  sql<string | null>`(select to_char(min(${table.since}) at time zone 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS"Z"') from ${table} where ${isOneOf(table.what, whats)})`

export const isPaused = (table: PauseTable): SQL => sql`exists (select from ${table} where ${table.since} is not null)`

type Change = {
  readonly what: string
  readonly by: string
  readonly reason: string
  readonly to: 'paused' | 'running'
  /** The revision that the operator saw, or 0 if the operation was never paused. */
  readonly revision: number
}

/** Sets or ends a pause. It is refused if another command has changed the state since the operator looked. */
export async function setPause(
  db: Db,
  table: PauseTable,
  { what, by: setBy, reason, to, revision }: Change,
): Promise<Static<typeof CommandOutcome>> {
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
            setWhere: and(isNull(table.since), eq(table.revision, revision)),
          })
          .returning()
      : await db
          .update(table)
          .set({ ...again, since: null })
          .where(and(eq(table.what, what), isNotNull(table.since), eq(table.revision, revision)))
          .returning()
  const rows = changed.length > 0 ? changed : await db.select().from(table).where(eq(table.what, what))
  const row = rows[0]
  if (!row) return { done: `${what} was never paused` }
  const changedAt = row.changedAt.toISOString()
  if (changed.length > 0) return { done: `${what} ${to} since ${changedAt}` }
  const last = `since ${changedAt}, by ${row.setBy}: ${row.reason}`
  if ((row.since === null) === (to === 'running')) return { done: `${what} already ${to} ${last}` }
  const is = to === 'paused' ? 'running' : 'paused'
  return { refused: `${what} ${is} ${last}. Look again before you change it` }
}
