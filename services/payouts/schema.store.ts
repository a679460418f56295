import { sql } from 'drizzle-orm'
import { pgSchema, text } from 'drizzle-orm/pg-core'
import { at } from '#shared/db/columns'
import { listingTable } from '#shared/db/listing.store'
import { messagingTables } from '#shared/db/messaging'
import type { Database, Db } from '#shared/db/open'
import { pauseTable } from '#shared/db/pause.store'
import { reservationTable } from '#shared/db/reservation.store'
import { journalTable } from '#shared/ledger/journal.store'

/** Everything this service owns in Postgres. */
export const schema = pgSchema('payouts')
export const messaging = messagingTables(schema)
export const { inbox, outbox, deadLetters } = messaging
/** Where the money of cash-outs is, entry by entry. */
export const journal = journalTable(schema)
/** Rupiah set aside for cash-outs whose quote is being taken. */
export const reservations = reservationTable(schema)
/** Since when no cash-out is accepted. */
export const pauses = pauseTable(schema)
/** When the provider's list of transactions was read. */
export const listings = listingTable(schema)

/** What does not fit anything we promised; kept for a person. */
export const anomalyKinds = [
  'other_account', // A payout event of an account that makes no payouts.
  'event_unknown',
  'payout_unknown', // The provider does not know what the delivery names, or we do not.
  'payout_unexpected',
  'payout_differs',
  'paid_twice',
  'paid_and_returned',
  'status_unknown',
  'key_taken', // Our idempotency key is in use, and no payout has our reference.
  'provider_refuses', // Our key, address or account, or an unknown word: nothing about the payout.
  'payout_lost', // The provider no longer knows a payout that it had told us of.
  'return_failed',
] as const
export type AnomalyKind = (typeof anomalyKinds)[number]

export const anomalies = schema.table('anomalies', {
  /** Kind and object: the same anomaly is one row, however often it is seen. */
  id: text('id').primaryKey(),
  kind: text('kind', { enum: anomalyKinds }).notNull(),
  object: text('object').notNull(),
  payoutId: text('payout_id'),
  says: text('says').notNull(),
  noticedAt: at('noticed_at').notNull().defaultNow(),
})
export type Anomaly = Omit<typeof anomalies.$inferInsert, 'id' | 'noticedAt'>

/** True the first time. */
export async function recordAnomaly(db: Db, anomaly: Anomaly): Promise<boolean> {
  const id = `${anomaly.kind}:${anomaly.object}`
  const made = await db
    .insert(anomalies)
    .values({ id, ...anomaly })
    .onConflictDoNothing()
    .returning({ id: anomalies.id })
  return made.length === 1
}

export async function countAnomalies(database: Database): Promise<number> {
  const rows = await database.read((db) =>
    db.select({ count: sql<number>`count(*)::int` }).from(anomalies),
  )
  return rows[0]!.count
}
