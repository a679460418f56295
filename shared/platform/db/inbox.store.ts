import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { index, integer, type PgSchema, primaryKey, text } from 'drizzle-orm/pg-core'
import { at, storableText } from '#platform/db/columns'
import type { Database, Tx } from '#platform/db/open'

/**
 * Returns the table of handled messages. The pruning job removes rows of messages that can no longer be redelivered,
 * oldest first.
 */
export const inboxTable = <S extends string>(schema: PgSchema<S>) =>
  schema.table(
    'inbox',
    {
      consumer: text('consumer').notNull(),
      messageId: text('message_id').notNull(),
      attempts: integer('attempts').notNull().default(0),
      lastError: text('last_error'),
      doneAt: at('done_at'),
    },
    (table) => [
      primaryKey({ columns: [table.consumer, table.messageId] }),
      index('inbox_done').on(table.consumer, table.doneAt).where(isNotNull(table.doneAt)),
    ],
  )
export type InboxTable = ReturnType<typeof inboxTable>

/** Claims a message in the transaction that does the work. Returns false if that has already committed. */
export async function claim(tx: Tx, inbox: InboxTable, consumer: string, messageId: string): Promise<boolean> {
  const won = await tx
    .insert(inbox)
    .values({ consumer, messageId, doneAt: sql`now()` })
    .onConflictDoUpdate({
      target: [inbox.consumer, inbox.messageId],
      set: { doneAt: sql`now()` },
      // guard: a row of the list is claimed once
      setWhere: isNull(inbox.doneAt),
    })
    .returning({ messageId: inbox.messageId })
  return won.length === 1
}

/**
 * Counts a failure and returns the total. It is stored here because the broker's delivery count restarts after a crash
 * (measured).
 */
export async function countFailure(
  database: Database,
  inbox: InboxTable,
  failure: { consumer: string; messageId: string; error: string },
): Promise<number> {
  const { consumer, messageId } = failure
  const lastError = storableText(failure.error).slice(0, 500)
  const rows = await database.run((db) =>
    db
      .insert(inbox)
      .values({ consumer, messageId, attempts: 1, lastError })
      .onConflictDoUpdate({
        target: [inbox.consumer, inbox.messageId],
        set: { attempts: sql`${inbox.attempts} + 1`, lastError },
      })
      .returning({ attempts: inbox.attempts }),
  )
  return rows[0]!.attempts
}

/** Returns true if a message is handled. This is a cheap check before work outside of the database; `claim` decides. */
export async function isDone(
  database: Database,
  inbox: InboxTable,
  consumer: string,
  messageId: string,
): Promise<boolean> {
  const rows = await database.read((db) =>
    db
      .select({ doneAt: inbox.doneAt })
      .from(inbox)
      .where(and(eq(inbox.consumer, consumer), eq(inbox.messageId, messageId))),
  )
  return rows[0]?.doneAt != null
}
