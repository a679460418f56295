import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Db, Tx } from '#platform/db/open'
import { checkpoints } from '../schema.store'

export type Checkpoint = typeof checkpoints.$inferSelect

export const findCheckpoint = async (db: Db, source: string): Promise<Checkpoint | undefined> =>
  (await db.select().from(checkpoints).where(eq(checkpoints.source, source)))[0]

/**
 * Moves a checkpoint forward from `from`. Returns false if another instance did so first; the tables then already
 * contain the data.
 */
export async function advance(
  tx: Tx,
  source: string,
  from: bigint | undefined,
  to: { block: bigint; readTo: Date },
): Promise<boolean> {
  const moved =
    from === undefined
      ? await tx
          .insert(checkpoints)
          .values({ source, ...to })
          .onConflictDoNothing()
          .returning()
      : await tx
          .update(checkpoints)
          .set({ ...to, notedAt: sql`now()` })
          .where(and(eq(checkpoints.source, source), eq(checkpoints.block, from)))
          .returning()
  return moved.length === 1
}

/** Records the last block that was read. The checkpoint never moves back. */
export const recordBlock = (tx: Tx, source: string, block: bigint, readTo: Date) =>
  tx
    .insert(checkpoints)
    .values({ source, block, readTo })
    .onConflictDoUpdate({
      target: checkpoints.source,
      set: { block, readTo, notedAt: sql`now()` },
      setWhere: sql`checkpoints.block < excluded.block`,
    })

/** Records up to when a source was read. The checkpoint never moves back. */
export const recordRead = (tx: Tx, source: string, readTo: Date) =>
  tx
    .insert(checkpoints)
    .values({ source, readTo })
    .onConflictDoUpdate({
      target: checkpoints.source,
      set: { readTo: sql`greatest(checkpoints.read_to, excluded.read_to)`, notedAt: sql`now()` },
      setWhere: isNull(checkpoints.block),
    })
