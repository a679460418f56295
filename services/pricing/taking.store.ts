import { eq, sql } from 'drizzle-orm'
import { text, uuid } from 'drizzle-orm/pg-core'
import { at } from '#shared/db/columns'
import type { Db } from '#shared/db/open'
import type { Quote } from './quote'
import { schema } from './schema.store'

/**
 * Quotes that were taken: one row each, whatever it was taken for, so that no quote serves a top-up
 * and a cash-out. A row is written once, and stays.
 */
export const quotesTaken = schema.table('quotes_taken', {
  id: uuid('id').primaryKey(),
  /** A hash of kind, wallet and body: the same call again is the same taker. */
  takenBy: text('taken_by').notNull(),
  takenAt: at('taken_at').notNull().defaultNow(),
  /** When the quote ended, by its id. */
  expiresAt: at('expires_at').notNull(),
})

/**
 * Gives the quote to one taker, unless somebody has it or it has expired by the clock of the
 * database: of many takers at once exactly one is told true.
 */
export async function insertTaking(
  db: Db,
  { id, expiresAtMs }: Quote,
  takenBy: string,
): Promise<boolean> {
  const expiresAt = new Date(expiresAtMs).toISOString()
  const won = await db.execute(sql`
    insert into ${quotesTaken} (id, taken_by, expires_at)
    select ${id}::uuid, ${takenBy}, ${expiresAt}::timestamptz
    where clock_timestamp() < ${expiresAt}::timestamptz
    on conflict (id) do nothing
    returning id`)
  return won.length === 1
}

/** Who took a quote, if anybody did, and what time it is: unix ms by the clock of the database. */
export async function findTaking(
  db: Db,
  id: string,
): Promise<{ takenBy: string | null; nowMs: number }> {
  const taker = db
    .select({ takenBy: quotesTaken.takenBy })
    .from(quotesTaken)
    .where(eq(quotesTaken.id, id))
  const [row] = await db.execute<{ takenBy: string | null; nowMs: number }>(sql`
    select (${taker}) as "takenBy", (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`)
  return row!
}
