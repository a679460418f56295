import { eq, sql } from 'drizzle-orm'
import { text, uuid } from 'drizzle-orm/pg-core'
import { at } from '#platform/db/columns'
import type { Db } from '#platform/db/open'
import type { Quote } from './quote'
import { schema } from './schema.store'

/**
 * Taken quotes, in one table for all purposes, so that no quote serves both a top-up and a
 * cash-out. Rows are never changed or deleted.
 */
export const quotesTaken = schema.table('quotes_taken', {
  id: uuid('id').primaryKey(),
  /** Hash of kind, wallet and body, so that a repeat of the call is the same taker. */
  requestFingerprint: text('request_fingerprint').notNull(),
  takenAt: at('taken_at').notNull().defaultNow(),
  /** Expiry of the quote, from its id. */
  expiresAt: at('expires_at').notNull(),
})

/**
 * Takes the quote unless it is taken or has expired by the database clock. Exactly one of several
 * concurrent takers gets true.
 */
export async function insertTaking(
  db: Db,
  { id, expiresAtMs }: Quote,
  requestFingerprint: string,
): Promise<boolean> {
  const expiresAt = new Date(expiresAtMs).toISOString()
  const won = await db.execute(sql`
    insert into ${quotesTaken} (id, request_fingerprint, expires_at)
    select ${id}::uuid, ${requestFingerprint}, ${expiresAt}::timestamptz
    where clock_timestamp() < ${expiresAt}::timestamptz
    on conflict (id) do nothing
    returning id`)
  return won.length === 1
}

/** Returns the taker of a quote, if any, and the database time in unix ms. */
export async function findTaking(
  db: Db,
  id: string,
): Promise<{ requestFingerprint: string | null; nowMs: number }> {
  const taker = db
    .select({ requestFingerprint: quotesTaken.requestFingerprint })
    .from(quotesTaken)
    .where(eq(quotesTaken.id, id))
  const [row] = await db.execute<{ requestFingerprint: string | null; nowMs: number }>(sql`
    select (${taker}) as "requestFingerprint", (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`)
  return row!
}
