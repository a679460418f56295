import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { index, integer, type PgSchema, primaryKey, text } from 'drizzle-orm/pg-core'
import { at } from '#shared/db/columns'
import type { Database, Tx } from '#shared/db/open'

/**
 * One row per message a consumer has received. `doneAt`: its work committed. It stays for longer than
 * the message can come again; the job of pruning walks the rest from the oldest on.
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

/**
 * Claims the message inside the transaction that does its work: false means that the work is
 * already committed. One arbitrated statement, so two deliveries at once cannot both win.
 */
export async function claim(
  tx: Tx,
  inbox: InboxTable,
  consumer: string,
  messageId: string,
): Promise<boolean> {
  const won = await tx
    .insert(inbox)
    .values({ consumer, messageId, doneAt: sql`now()` })
    .onConflictDoUpdate({
      target: [inbox.consumer, inbox.messageId],
      set: { doneAt: sql`now()` },
      setWhere: isNull(inbox.doneAt),
    })
    .returning({ messageId: inbox.messageId })
  return won.length === 1
}

/** Claims messages that ask for no work, whoever else claims them. */
export const claimAll = (
  database: Database,
  inbox: InboxTable,
  consumer: string,
  messageIds: readonly string[],
) =>
  database.run((db) =>
    db.execute(sql`
      insert into ${inbox} as held (consumer, message_id, done_at)
      select distinct ${consumer}::text, message_id, now()
      from unnest(${sql.param([...messageIds])}::text[]) message_id
      on conflict (consumer, message_id) do update set done_at = now() where held.done_at is null`),
  )

/**
 * Counts a failed attempt and returns how many there were. The count lives here because the
 * broker's own delivery count starts again after a crash (measured).
 */
export async function countFailure(
  database: Database,
  inbox: InboxTable,
  failure: { consumer: string; messageId: string; error: string },
): Promise<number> {
  const { consumer, messageId, error } = failure
  const rows = await database.run((db) =>
    db
      .insert(inbox)
      .values({ consumer, messageId, attempts: 1, lastError: error.slice(0, 500) })
      .onConflictDoUpdate({
        target: [inbox.consumer, inbox.messageId],
        set: { attempts: sql`${inbox.attempts} + 1`, lastError: error.slice(0, 500) },
      })
      .returning({ attempts: inbox.attempts }),
  )
  return rows[0]!.attempts
}

/** A cheap check before work outside the database; `claim` is what decides. */
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
