import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { index, jsonb, type PgSchema, primaryKey, text } from 'drizzle-orm/pg-core'
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
    (table) => [
      primaryKey({ columns: [table.consumer, table.messageId] }),
      index('dead_letter_open').on(table.consumer).where(isNull(table.redrivenAt)),
    ],
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

/** A dead letter that an operator asked for. */
export type RequestedRedrive = Omit<DeadLetter, 'reason'> & {
  /** As it is in the row, to the microsecond: a later request is another one. */
  readonly requestedAt: string
  /** It was asked for longer ago than it is tried for. */
  readonly isLastTry: boolean
}

/** What an operator asked to be handled again; `tryMs` says for how long. */
export function findRedrives(
  database: Database,
  deadLetters: DeadLetterTable,
  consumer: string,
  tryMs: number,
): Promise<RequestedRedrive[]> {
  const { messageId, subject, payload, redriveRequestedAt } = deadLetters
  return database.read((db) =>
    db
      .select({
        ...{ consumer: deadLetters.consumer, messageId, subject, payload },
        requestedAt: sql<string>`${redriveRequestedAt}::text`,
        isLastTry: sql<boolean>`${redriveRequestedAt} < now() - ${tryMs} * interval '1 millisecond'`,
      })
      .from(deadLetters)
      .where(
        and(
          eq(deadLetters.consumer, consumer),
          isNotNull(redriveRequestedAt),
          isNull(deadLetters.redrivenAt),
        ),
      )
      .orderBy(deadLetters.diedAt)
      .limit(20),
  )
}

/**
 * Claims a redrive inside the transaction that does its work: false means that another copy of the
 * service did it, or that it was taken back.
 */
export async function claimRedrive(
  tx: Tx,
  deadLetters: DeadLetterTable,
  consumer: string,
  messageId: string,
): Promise<boolean> {
  const won = await tx
    .update(deadLetters)
    .set({ redrivenAt: sql`now()` })
    .where(
      and(
        eq(deadLetters.consumer, consumer),
        eq(deadLetters.messageId, messageId),
        isNotNull(deadLetters.redriveRequestedAt),
        isNull(deadLetters.redrivenAt),
      ),
    )
    .returning({ messageId: deadLetters.messageId })
  return won.length === 1
}

/** A redrive failed for good: it has to be asked for anew. False when another copy was faster. */
export async function buryAgain(
  database: Database,
  deadLetters: DeadLetterTable,
  failed: Pick<RequestedRedrive, 'consumer' | 'messageId' | 'requestedAt'> & { reason: string },
): Promise<boolean> {
  const { consumer, messageId, requestedAt, reason } = failed
  const buried = await database.run((db) =>
    db
      .update(deadLetters)
      .set({ redriveRequestedAt: null, reason: reason.slice(0, 500) })
      .where(
        and(
          eq(deadLetters.consumer, consumer),
          eq(deadLetters.messageId, messageId),
          sql`${deadLetters.redriveRequestedAt} = ${requestedAt}::timestamptz`,
          isNull(deadLetters.redrivenAt),
        ),
      )
      .returning({ messageId: deadLetters.messageId }),
  )
  return buried.length === 1
}
