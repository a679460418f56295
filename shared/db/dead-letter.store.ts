import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { jsonb, type PgSchema, primaryKey, text } from 'drizzle-orm/pg-core'
import { at } from '#shared/db/columns'
import type { Database, Tx } from '#shared/db/open'

/** Messages that were given up on, kept whole until an operator redrives or dismisses them. */
export const deadLetterTable = <S extends string>(schema: PgSchema<S>) =>
  schema.table(
    'dead_letter',
    {
      consumer: text('consumer').notNull(),
      messageId: text('message_id').notNull(),
      subject: text('subject').notNull(),
      payload: jsonb('payload').notNull(),
      reason: text('reason').notNull(),
      diedAt: at('died_at').notNull().defaultNow(),
      redriveRequestedAt: at('redrive_requested_at'),
      redrivenAt: at('redriven_at'),
    },
    (table) => [primaryKey({ columns: [table.consumer, table.messageId] })],
  )
export type DeadLetterTable = ReturnType<typeof deadLetterTable>
export type DeadLetter = Omit<
  DeadLetterTable['$inferInsert'],
  'diedAt' | 'redrivenAt' | 'redriveRequestedAt'
>

/** Keeps a message that was given up on; one that fails again after a redrive reuses its row. */
export const storeDeadLetter = (tx: Tx, deadLetters: DeadLetterTable, deadLetter: DeadLetter) =>
  tx
    .insert(deadLetters)
    .values(deadLetter)
    .onConflictDoUpdate({
      target: [deadLetters.consumer, deadLetters.messageId],
      set: {
        reason: deadLetter.reason,
        redriveRequestedAt: null,
        redrivenAt: null,
        diedAt: sql`now()`,
      },
    })

/** Dead letters that were not redriven. More than none is an alarm. */
export async function countDead(database: Database, deadLetters: DeadLetterTable): Promise<number> {
  const rows = await database.read((db) =>
    db
      .select({ dead: sql<number>`count(*)::int` })
      .from(deadLetters)
      .where(isNull(deadLetters.redrivenAt)),
  )
  return rows[0]!.dead
}

/** What an operator asked to be handled again; the consumer that gave it up runs it from the row. */
export const findRedrives = (database: Database, deadLetters: DeadLetterTable, consumer: string) =>
  database.read((db) =>
    db
      .select()
      .from(deadLetters)
      .where(
        and(
          eq(deadLetters.consumer, consumer),
          isNotNull(deadLetters.redriveRequestedAt),
          isNull(deadLetters.redrivenAt),
        ),
      )
      .limit(20),
  )

export const markRedriven = (
  tx: Tx,
  deadLetters: DeadLetterTable,
  consumer: string,
  messageId: string,
) =>
  tx
    .update(deadLetters)
    .set({ redrivenAt: sql`now()` })
    .where(and(eq(deadLetters.consumer, consumer), eq(deadLetters.messageId, messageId)))
