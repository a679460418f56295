import { eq, sql } from 'drizzle-orm'
import { text, uuid } from 'drizzle-orm/pg-core'
import { at } from '#platform/db/columns'
import type { Db } from '#platform/db/open'
import type { Quote } from './quote'
import { schema } from './schema.store'

/**
 * Quotes in use, an append-only table. It serves all purposes, so that no quote serves both a top-up and a cash-out.
 */
export const quotesTaken = schema.table('quotes_taken', {
  id: uuid('id').primaryKey(),
  /** Hash of kind, wallet and body, by which a repeat is recognised as the same taker. */
  requestFingerprint: text('request_fingerprint').notNull(),
  takenAt: at('taken_at').notNull().defaultNow(),
  expiresAt: at('expires_at').notNull(),
})

/** Takes a quote that has not expired by the database clock. Exactly one of several concurrent takers gets true. */
export async function insertTaking(
  db: Db,
  { id, expiresAtMs, validFromMs }: Quote,
  requestFingerprint: string,
): Promise<boolean> {
  const [validFrom, expiresAt] = [validFromMs, expiresAtMs].map((ms) => new Date(ms).toISOString())
  // guard: a quote is taken no earlier than it can have been issued, by the database clock
  // guard: a quote is taken before it expires, by the database clock
  const won = await db.execute(sql`
    insert into ${quotesTaken} (id, request_fingerprint, expires_at)
    select ${id}::uuid, ${requestFingerprint}, ${expiresAt}::timestamptz
    where clock_timestamp() >= ${validFrom}::timestamptz
      and clock_timestamp() < ${expiresAt}::timestamptz
    on conflict (id) do nothing
    returning id`)
  // guard: a quote is taken once
  return won.length === 1
}

/** Finds who took a quote. `nowMs` is the time of the database. */
export async function findTaking(db: Db, id: string): Promise<{ requestFingerprint: string | null; nowMs: number }> {
  const taker = db
    .select({ requestFingerprint: quotesTaken.requestFingerprint })
    .from(quotesTaken)
    .where(eq(quotesTaken.id, id))
  const [row] = await db.execute<{ requestFingerprint: string | null; nowMs: number }>(sql`
    select (${taker}) as "requestFingerprint", (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`)
  return row!
}
