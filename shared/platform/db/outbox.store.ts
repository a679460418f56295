import { and, isNotNull, isNull, or, sql } from 'drizzle-orm'
import { bigserial, index, jsonb, type PgSchema, text } from 'drizzle-orm/pg-core'
import type { Static, TSchema } from 'typebox'
import { announceAtCommit, isHeard, willAnnounce } from '#platform/db/after-commit'
import { at, fromNow, isOneOf, isOver, textList } from '#platform/db/columns'
import type { SideWrite } from '#platform/db/compiled-query'
import { leaseRows } from '#platform/db/lease-rows'
import { type Database, sendAhead, type Tx } from '#platform/db/open'
import { requestId } from '#platform/request-id'
import { schemaReader } from '#platform/schema'
import type { Topic } from '#shared/messages/topic'

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

export type Announcement = {
  readonly id: string
  readonly subject: string
  readonly payload: unknown
  /** Id of the request that caused the message, if it is not the current one. */
  readonly requestId?: string | null
}

/** Returns a message to store. Throws if the payload does not match the topic's schema. */
export function announcement<S extends TSchema>(
  topic: Topic<S>,
  id: string,
  payload: NoInfer<Static<S>>,
): Announcement {
  const read = schemaReader(topic.schema)(payload)
  if ('fault' in read) throw new Error(`${topic.subject}: ${read.fault}`)
  return { id, subject: topic.subject, payload }
}

/** A stored message, announced at the commit to the relay of this process. */
export type Announced = {
  readonly outbox: OutboxTable
  readonly message: Announcement & { readonly requestId: string | null }
}

/**
 * Stores messages in the transaction of the state change. A repeated id changes nothing, because ids are derived from
 * causes.
 */
export function announceAll(tx: Tx, outbox: OutboxTable, messages: readonly Announcement[]): void {
  if (messages.length === 0) return
  const { caused, announced, columns } = causedBy(tx, messages)
  // guard: a message is a row written by the transaction it reports
  const adding = sql`
    insert into ${outbox} (id, subject, payload, request_id, leased_until)
    select ${columns} from ${announced} on conflict do nothing returning id`
  sendAhead(tx, adding, (added) => {
    const ids = new Set(added.map(({ id }) => id))
    recordAll(
      tx,
      outbox,
      caused.filter(({ id }) => ids.has(id)),
    )
  })
}

/**
 * Returns a statement that stores messages within the one that changes a row, and only if it does; call `notify` then.
 */
export function announceWith(
  tx: Tx,
  outbox: OutboxTable,
  messages: readonly Announcement[],
): { statement: SideWrite; notify: () => void } | undefined {
  if (messages.length === 0) return undefined
  const { caused, announced, columns } = causedBy(tx, messages)
  // guard: an order of a step is sent only if the step was taken
  const statement = sql`
    insert into ${outbox} (id, subject, payload, request_id, leased_until)
    select ${columns} from moved, ${announced} on conflict do nothing`
  return { statement, notify: () => recordAll(tx, outbox, caused) }
}

/** Adds the current request to messages. The rows are leased to this process if it has a listener. */
function causedBy(tx: Tx, messages: readonly Announcement[]) {
  willAnnounce(tx)
  const cause = requestId() ?? null
  const caused = messages.map((message) => ({
    ...message,
    requestId: message.requestId ?? cause,
  }))
  const announced = sql`unnest(${textList(messages.map(({ id }) => id))},
      ${textList(messages.map(({ subject }) => subject))},
      ${textList(messages.map(({ payload }) => JSON.stringify(payload)))},
      ${textList(caused.map((message) => message.requestId ?? ''))}) announced(id, subject, payload, request_id)`
  const leasedUntil = isHeard(tx) ? fromNow(ownLeaseMs) : sql`null`
  const columns = sql`announced.id, announced.subject, announced.payload::jsonb, nullif(announced.request_id, ''), ${leasedUntil}`
  return { caused, announced: announced, columns }
}

function recordAll(tx: Tx, outbox: OutboxTable, messages: readonly Announced['message'][]): void {
  for (const message of messages) announceAtCommit(tx, { outbox, message } satisfies Announced)
}

export const announce = <S extends TSchema>(
  tx: Tx,
  outbox: OutboxTable,
  topic: Topic<S>,
  id: string,
  payload: NoInfer<Static<S>>,
): void => announceAll(tx, outbox, [announcement<S>(topic, id, payload)])

/** Lease in ms, longer than publishing a batch takes. */
const leaseMs = 5_000
/**
 * Lease in ms for the process that wrote a row and publishes it from memory. If it dies first, another process
 * publishes the row.
 */
const ownLeaseMs = 3_000

/**
 * Leases unpublished rows. They are selected by their state, never by "id greater than the last", because serials
 * commit out of order.
 */
export const lease = (database: Database, outbox: OutboxTable, rowsMax: number): Promise<OutboxRow[]> =>
  database.run(async (db) => {
    const rows = await leaseRows(db, outbox, {
      id: outbox.id,
      isDue: and(isNull(outbox.publishedAt), or(isNull(outbox.leasedUntil), isOver(outbox.leasedUntil, leaseMs))),
      order: [outbox.position],
      rowsMax,
      set: { leasedUntil: fromNow(leaseMs) },
    })
    return rows.sort((left, right) => left.position - right.position)
  })

/** Marks rows as published, but only after the broker has confirmed them (`openMarks`). */
export const markPublished = (database: Database, outbox: OutboxTable, ids: readonly string[]) =>
  database.run((db) => db.update(outbox).set({ publishedAt: sql`now()` }).where(isOneOf(outbox.id, ids)))

/** Returns the number of unpublished rows and the age of the oldest in ms, or null if there is none. */
export async function outboxLag(database: Database, outbox: OutboxTable) {
  const rows = await database.read((db) =>
    db
      .select({
        waiting: sql<number>`count(*)::int`,
        oldestMs: sql<number | null>`(extract(epoch from now() - min(${outbox.createdAt})) * 1000)::float8`,
      })
      .from(outbox)
      .where(isNull(outbox.publishedAt)),
  )
  return rows[0]!
}
