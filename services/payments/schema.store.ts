import { eq } from 'drizzle-orm'
import { index, pgSchema, text } from 'drizzle-orm/pg-core'
import { amountColumn, at, isOneOf } from '#platform/db/columns'
import { insertNew } from '#platform/db/insert-new'
import { messagingTables } from '#platform/db/messaging'
import type { Db } from '#platform/db/open'
import { pauseTable } from '#platform/db/pause.store'
import { journalTable } from '#shared/ledger/journal.store'
import { approvalTable } from '#shared/operators/approval.store'
import { listingTable } from '#shared/provider/listing.store'

export const schema = pgSchema('payments')
export const messaging = messagingTables(schema)
export const { inbox, outbox, deadLetters } = messaging
export const journal = journalTable(schema)
export const pauses = pauseTable(schema)
export const approvals = approvalTable(schema)
export const listings = listingTable(schema)

/** Kinds of objects and events that match no promise; they are kept for manual review. */
export const anomalyKinds = [
  'event_unknown',
  'object_unknown',
  'money_unmatched',
  'paid_twice', // Money beyond the promise: a second charge, or the rest of the first one.
  'status_unknown', // The status from the provider is unrecognised.
  'sender_unverified', // The sender verification failed after the credit.
  'amount_unknown', // A refund has no exact amount.
  'charge_doubtful', // A charge that we counted no longer reads as succeeded.
  'charge_ambiguous', // A refund or dispute names a promise that several charges paid.
  'repaid_needlessly', // A loss was undone after a top-up had covered it.
  'dispute_won', // A chargeback was reversed.
  'look_up_refused', // The provider refused to look up our own object, whose state is unknown.
] as const

export type AnomalyKind = (typeof anomalyKinds)[number]

export const anomalies = schema.table(
  'anomalies',
  {
    /** Kind, account and object in one id, so that a repeated anomaly stays one row. */
    id: text('id').primaryKey(),
    kind: text('kind', { enum: anomalyKinds }).notNull(),
    account: text('account').notNull(),
    object: text('object').notNull(),
    paymentId: text('payment_id'),
    currency: text('currency'),
    amountMinor: amountColumn('amount_minor'),
    /** Reference of a second or unmatched payment on its payer's own receipt. */
    bankReceipt: text('bank_receipt'),
    noticedAt: at('noticed_at').notNull().defaultNow(),
  },
  (table) => [index('anomalies_payment').on(table.paymentId)],
)
type Anomaly = Omit<typeof anomalies.$inferInsert, 'id' | 'noticedAt'>

export const anomalyId = (kind: AnomalyKind, account: string, object: string): string => `${kind}:${account}:${object}`

export async function findAnomaly(db: Db, id: string) {
  return (await db.select().from(anomalies).where(eq(anomalies.id, id)))[0]
}

/** Returns the anomalies among these ids, each with the time at which it was noticed. */
export async function findAnomalies(db: Db, ids: readonly string[]): Promise<Map<string, Date>> {
  const { id, noticedAt } = anomalies
  const rows = await db.select({ id, noticedAt }).from(anomalies).where(isOneOf(id, ids))
  return new Map(rows.map((row) => [row.id, row.noticedAt]))
}

/** Records an anomaly. Returns true if it is new. */
export function recordAnomaly(db: Db, anomaly: Anomaly): Promise<boolean> {
  const id = anomalyId(anomaly.kind, anomaly.account, anomaly.object)
  return insertNew(db, anomalies, { id, ...anomaly })
}
