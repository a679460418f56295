import { sql } from 'drizzle-orm'
import { pgSchema, text } from 'drizzle-orm/pg-core'
import { at, isOneOf } from '#platform/db/columns'
import { insertNew } from '#platform/db/insert-new'
import { messagingTables } from '#platform/db/messaging'
import type { Database, Db } from '#platform/db/open'
import { pauseTable } from '#platform/db/pause.store'
import { journalTable } from '#shared/ledger/journal.store'
import { approvalTable } from '#shared/operators/approval.store'
import { listingTable } from '#shared/provider/listing.store'

export const schema = pgSchema('payouts')
export const messaging = messagingTables(schema)
export const { inbox, outbox, deadLetters } = messaging
export const journal = journalTable(schema)
export const pauses = pauseTable(schema)
export const approvals = approvalTable(schema)
export const listings = listingTable(schema)

/** Kinds of objects and events that match no promise; they are kept for manual review. */
export const anomalyKinds = [
  'other_account', // The webhook is from an account that makes no payouts.
  'event_unknown',
  'payout_unknown', // The payout is not found at the provider, or has no cash-out of ours.
  'payout_unexpected',
  'payout_differs',
  'paid_twice',
  'paid_and_returned',
  'status_unknown',
  'key_taken', // The idempotency key is in use, but no payout has our reference.
  'provider_refuses', // The refusal is about our key, address or account, or has an unrecognised code.
  'payout_lost', // A payout that the provider had reported is missing.
  'return_failed',
] as const
export type AnomalyKind = (typeof anomalyKinds)[number]

export const anomalies = schema.table('anomalies', {
  /** Kind and object in one id, so that a repeated anomaly stays one row. */
  id: text('id').primaryKey(),
  kind: text('kind', { enum: anomalyKinds }).notNull(),
  object: text('object').notNull(),
  payoutId: text('payout_id'),
  says: text('says').notNull(),
  noticedAt: at('noticed_at').notNull().defaultNow(),
})
export type Anomaly = Omit<typeof anomalies.$inferInsert, 'id' | 'noticedAt'>

const anomalyId = (kind: AnomalyKind, object: string) => `${kind}:${object}`

/** Returns the anomalies of these kinds about these objects. */
export async function findAnomalies(
  db: Db,
  kinds: readonly AnomalyKind[],
  objects: readonly string[],
): Promise<Pick<typeof anomalies.$inferSelect, 'kind' | 'object' | 'noticedAt'>[]> {
  const { kind, object, noticedAt } = anomalies
  const ids = objects.flatMap((one) => kinds.map((kind) => anomalyId(kind, one)))
  return db.select({ kind, object, noticedAt }).from(anomalies).where(isOneOf(anomalies.id, ids))
}

export function recordAnomaly(db: Db, anomaly: Anomaly): Promise<boolean> {
  const id = anomalyId(anomaly.kind, anomaly.object)
  return insertNew(db, anomalies, { id, ...anomaly })
}

export async function countAnomalies(database: Database): Promise<number> {
  const rows = await database.read((db) => db.select({ count: sql<number>`count(*)::int` }).from(anomalies))
  return rows[0]!.count
}
