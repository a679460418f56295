import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Db, Tx } from '#platform/db/open'
import { checkpoints, runs } from '../schema.store'

export type Checkpoint = typeof checkpoints.$inferSelect

export const findCheckpoint = async (db: Db, source: string): Promise<Checkpoint | undefined> =>
  (await db.select().from(checkpoints).where(eq(checkpoints.source, source)))[0]

/** Margin behind the clock of Postgres, which instances know with a small error. */
const isAhead = sql`read_to > clock_timestamp() + interval '1 minute'`

/**
 * Returns up to when a source was read. A time in the future is from a clock that was ahead, and says nothing about the
 * rows since it was set right, so reading continues from the last comparison before that. Returns undefined if the
 * source was never read, or if there is no such comparison.
 */
export async function findReadTo(db: Db, source: string): Promise<Date | undefined> {
  const before = sql`(select max(${runs.startedAt}) from ${runs} where ${runs.id} <
    (select min(${runs.id}) from ${runs} where ${runs.startedAt} > now()))`
  const [found] = await db
    .select({
      readTo: sql<Date | null>`case when ${isAhead} then ${before} else read_to end`.mapWith(checkpoints.readTo),
    })
    .from(checkpoints)
    .where(eq(checkpoints.source, source))
  return found?.readTo ?? undefined
}

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

/** Records up to when a source was read. The checkpoint moves back only from the future. */
export const recordRead = (tx: Tx, source: string, readTo: Date) =>
  tx
    .insert(checkpoints)
    .values({ source, readTo })
    .onConflictDoUpdate({
      target: checkpoints.source,
      set: {
        readTo: sql`case when checkpoints.${isAhead} then excluded.read_to
          else greatest(checkpoints.read_to, excluded.read_to) end`,
        notedAt: sql`now()`,
      },
      setWhere: isNull(checkpoints.block),
    })
