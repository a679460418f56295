import { index, pgSchema, text } from 'drizzle-orm/pg-core'
import { amountColumn, at } from '#shared/db/columns'
import { listingTable } from '#shared/db/listing.store'
import { messagingTables } from '#shared/db/messaging'
import type { Db } from '#shared/db/open'
import { pauseTable } from '#shared/db/pause.store'
import { reservationTable } from '#shared/db/reservation.store'
import { journalTable } from '#shared/ledger/journal.store'

/** Everything this service owns in Postgres. */
export const schema = pgSchema('payments')
export const messaging = messagingTables(schema)
export const { inbox, outbox, deadLetters } = messaging
/** Where the money of payments is, entry by entry. */
export const journal = journalTable(schema)
/** AUSD (10⁻⁶) set aside for top-ups whose quote is being taken. */
export const reservations = reservationTable(schema)
/** Since when no top-up is opened. */
export const pauses = pauseTable(schema)
/** When the provider's list of transactions was read. */
export const listings = listingTable(schema)

/** What does not fit anything we promised; kept for a person. */
export const anomalyKinds = [
  'event_unknown',
  'object_unknown',
  'money_unmatched',
  'paid_twice',
  'status_unknown', // A word of the provider that we have never seen.
  'sender_unverified', // Said of money that was credited already.
  'amount_unknown', // A refund that does not say exactly how much.
  'dispute_won', // A chargeback that came back: its wallet may be cleared.
  'look_up_refused', // By the provider, of what is ours: unknown, whatever it says.
] as const

export const anomalies = schema.table(
  'anomalies',
  {
    /** Kind and object: the same anomaly is one row, however often it is met. */
    id: text('id').primaryKey(),
    kind: text('kind', { enum: anomalyKinds }).notNull(),
    account: text('account').notNull(),
    object: text('object').notNull(),
    paymentId: text('payment_id'),
    currency: text('currency'),
    amountMinor: amountColumn('amount_minor'),
    noticedAt: at('noticed_at').notNull().defaultNow(),
  },
  (table) => [index('anomalies_payment').on(table.paymentId)],
)
type Anomaly = Omit<typeof anomalies.$inferInsert, 'id' | 'noticedAt'>

/** True the first time. */
export async function recordAnomaly(db: Db, anomaly: Anomaly): Promise<boolean> {
  const id = `${anomaly.kind}:${anomaly.account}:${anomaly.object}`
  const made = await db
    .insert(anomalies)
    .values({ id, ...anomaly })
    .onConflictDoNothing()
    .returning({ id: anomalies.id })
  return made.length === 1
}
