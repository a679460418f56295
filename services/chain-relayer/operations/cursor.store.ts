import { eq, sql } from 'drizzle-orm'
import { text } from 'drizzle-orm/pg-core'
import { amountColumn, timestamps } from '#platform/db/columns'
import type { Db } from '#platform/db/open'
import { schema } from '../schema.store'

export const cursors = schema.table('cursor', {
  name: text('name').primaryKey(),
  /** First block that the scan has not read yet. */
  nextBlock: amountColumn('next_block').notNull(),
  ...timestamps(),
})

const name = 'transfers-to-treasury'

export async function findCursor(db: Db): Promise<bigint | undefined> {
  const rows = await db.select().from(cursors).where(eq(cursors.name, name))
  return rows[0]?.nextBlock
}

/** Moves the cursor forward. It never goes back, because all instances read the same blocks. */
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
