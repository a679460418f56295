import { eq, sql } from 'drizzle-orm'
import { text } from 'drizzle-orm/pg-core'
import { amountColumn, timestamps } from '#shared/db/columns'
import type { Db } from '#shared/db/open'
import { schema } from '../schema.store'

/** How far the events of the chain were read; one row per reading. */
export const cursors = schema.table('cursor', {
  name: text('name').primaryKey(),
  /** The first block that was not read yet. */
  nextBlock: amountColumn('next_block').notNull(),
  ...timestamps(),
})

const name = 'transfers-to-treasury'

/** The first block whose transfers to the treasury were not read yet; undefined: none ever were. */
export async function findCursor(db: Db): Promise<bigint | undefined> {
  const rows = await db.select().from(cursors).where(eq(cursors.name, name))
  return rows[0]?.nextBlock
}

/** Moves on, never back: copies of the service read the same blocks. */
export const advanceCursor = (db: Db, nextBlock: bigint) =>
  db
    .insert(cursors)
    .values({ name, nextBlock })
    .onConflictDoUpdate({
      target: cursors.name,
      set: {
        nextBlock: sql`greatest(${cursors.nextBlock}, excluded.next_block)`,
        updatedAt: sql`now()`,
      },
    })
