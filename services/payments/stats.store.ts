import { sql } from 'drizzle-orm'
import { countDead } from '#shared/db/dead-letter.store'
import { listingAgeMs } from '#shared/db/listing.store'
import type { Database } from '#shared/db/open'
import { outboxLag } from '#shared/db/outbox.store'
import { payments } from './payment.store'
import { deadLetters, listings, outbox } from './schema.store'
import { countFrozen } from './wallet.store'

/** The true figures. In flight is money that arrived and whose effect is not final on the chain. */
export async function readStats(database: Database) {
  const [lag, dead, frozen, listAgeMs, flying] = await Promise.all([
    outboxLag(database, outbox),
    countDead(database, deadLetters),
    database.read(countFrozen),
    listingAgeMs(database, listings),
    database.read((db) =>
      db
        .select({
          inFlight: sql<number>`count(*) filter (where ${payments.state} in ('paid', 'revoking'))::int`,
          oldestInFlightMs: sql<
            number | null
          >`(extract(epoch from now() - min(${payments.updatedAt}) filter (where ${payments.state} in ('paid', 'revoking'))) * 1000)::float8`,
          awaitingPayment: sql<number>`count(*) filter (where ${payments.state} = 'awaiting_payment')::int`,
          onHold: sql<number>`count(*) filter (where ${payments.held} and ${payments.creditedAt} is not null and ${payments.holdEndedAt} is null and ${payments.state} in ('held', 'repaid'))::int`,
          inReview: sql<number>`count(*) filter (where ${payments.state} = 'review')::int`,
        })
        .from(payments)
        .where(
          sql`${payments.state} in ('paid', 'revoking', 'awaiting_payment', 'review', 'held', 'repaid')`,
        ),
    ),
  ])
  const { oldestInFlightMs, ...counts } = flying[0]!
  return {
    outboxWaiting: lag.waiting,
    outboxOldestMs: lag.oldestMs,
    deadLetters: dead,
    ...frozen,
    /** How long ago the provider's list was last read whole; null: not yet. */
    listAgeMs,
    ...counts,
    oldestInFlightMs: oldestInFlightMs === null ? null : Math.round(oldestInFlightMs),
  }
}
