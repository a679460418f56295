import { and, asc, eq, getTableColumns, isNotNull, isNull, sql } from 'drizzle-orm'
import { bigserial, index, jsonb, type PgSchema, text } from 'drizzle-orm/pg-core'
import type { Static, TSchema } from 'typebox'
import { at, fromNow, isOneOf } from '#shared/db/columns'
import type { Database, Tx } from '#shared/db/open'
import type { Topic } from '#shared/messages/topic'
import { requestId } from '#shared/request-id'
import { readerOf } from '#shared/schema'

/** Messages that must be sent because of what the same transaction wrote. */
export const outboxTable = <S extends string>(schema: PgSchema<S>) =>
  schema.table(
    'outbox',
    {
      id: text('id').primaryKey(),
      position: bigserial('position', { mode: 'number' }).notNull(),
      subject: text('subject').notNull(),
      payload: jsonb('payload').notNull(),
      requestId: text('request_id'),
      createdAt: at('created_at').notNull().defaultNow(),
      leasedUntil: at('leased_until'),
      publishedAt: at('published_at'),
    },
    (table) => [
      index('outbox_unpublished').on(table.position).where(isNull(table.publishedAt)),
      index('outbox_published').on(table.publishedAt).where(isNotNull(table.publishedAt)),
    ],
  )
export type OutboxTable = ReturnType<typeof outboxTable>
export type OutboxRow = OutboxTable['$inferSelect']

/**
 * Writes the message beside the state change it announces. The same id again changes nothing: ids
 * come from causes, so a repeat is the same message. Throws when the payload does not fit its schema.
 */
export async function announce<S extends TSchema>(
  tx: Tx,
  outbox: OutboxTable,
  topic: Topic<S>,
  id: string,
  payload: Static<S>,
): Promise<void> {
  const read = readerOf(topic.schema)(payload)
  if ('fault' in read) throw new Error(`${topic.subject}: ${read.fault}`)
  await tx
    .insert(outbox)
    .values({ id, subject: topic.subject, payload, requestId: requestId() })
    .onConflictDoNothing()
}

/** Longer than publishing the rows takes. */
const leaseMs = 10_000

/**
 * Takes the oldest unpublished rows under a lease and commits, so that no lock is held while the
 * broker is asked. By row state, never by "id greater than the last": serials commit out of order.
 */
export const lease = (
  database: Database,
  outbox: OutboxTable,
  rowsMax: number,
): Promise<OutboxRow[]> =>
  database.run(async (db) => {
    const due = db.$with('due').as(
      db
        .select({ id: sql<string>`${outbox.id}`.as('due_id') })
        .from(outbox)
        .where(
          and(isNull(outbox.publishedAt), sql`coalesce(${outbox.leasedUntil}, 'epoch') < now()`),
        )
        .orderBy(asc(outbox.position))
        .limit(rowsMax)
        .for('update', { skipLocked: true }),
    )
    const rows = await db
      .with(due)
      .update(outbox)
      .set({ leasedUntil: fromNow(leaseMs) })
      .from(due)
      .where(eq(outbox.id, due.id))
      .returning(getTableColumns(outbox))
    return rows.sort((left, right) => left.position - right.position)
  })

/** Only after the broker confirmed: a crash between leaves a duplicate, never a loss. */
export const markPublished = (database: Database, outbox: OutboxTable, ids: readonly string[]) =>
  database.run((db) =>
    db.update(outbox).set({ publishedAt: sql`now()` }).where(isOneOf(outbox.id, ids)),
  )

/** How many wait and since when (unix ms, null if none): the figures of `nats micro stats`. */
export async function outboxLag(database: Database, outbox: OutboxTable) {
  const rows = await database.read((db) =>
    db
      .select({
        waiting: sql<number>`count(*)::int`,
        oldest: sql<string | null>`min(${outbox.createdAt})`,
      })
      .from(outbox)
      .where(isNull(outbox.publishedAt)),
  )
  const { waiting, oldest } = rows[0]!
  return { waiting, oldestMs: oldest === null ? null : Date.now() - Date.parse(oldest) }
}
