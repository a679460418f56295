import { and, asc, eq, inArray, isNotNull, lte, sql } from 'drizzle-orm'
import type { Database, Db } from '#shared/db/open'
import { type Operation, operations } from './operation.store'

/** A failed take whose authorization can still be used. */
export type Watched = Extract<Operation, { kind: 'take' }>

/**
 * Takes the failed takes whose look is due, longest due first, and says when they are due again:
 * copies of the service share them out, and a copy that dies is followed by the next look.
 */
export const takeWatched = (database: Database, rowsMax: number, watchMs: number) =>
  database.transaction(async (tx): Promise<Watched[]> => {
    const due = await tx
      .select({ id: operations.id })
      .from(operations)
      .where(lte(operations.watchAt, sql`now()`))
      .orderBy(asc(operations.watchAt))
      .limit(rowsMax)
      .for('update', { skipLocked: true })
    if (due.length === 0) return []
    const ids = due.map(({ id }) => id)
    const rows = await tx
      .update(operations)
      .set({ watchAt: sql`now() + ${watchMs} * interval '1 millisecond'` })
      .where(inArray(operations.id, ids))
      .returning()
    return rows as Watched[]
  })

/** Nothing can happen any more. False: another copy said so before. */
export async function endWatch(db: Db, id: string): Promise<boolean> {
  const ended = await db
    .update(operations)
    .set({ watchAt: null })
    .where(and(eq(operations.id, id), isNotNull(operations.watchAt)))
    .returning({ id: operations.id })
  return ended.length === 1
}

/** How many authorizations of failed takes can still be used. */
export async function countWatched(db: Db): Promise<number> {
  const rows = await db
    .select({ watched: sql<number>`count(*)::int` })
    .from(operations)
    .where(isNotNull(operations.watchAt))
  return rows[0]!.watched
}
