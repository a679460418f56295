import { pgSchema } from 'drizzle-orm/pg-core'
import { listingTable } from '#shared/db/listing.store'
import { messagingTables } from '#shared/db/messaging'

/** Everything this service owns in Postgres. */
export const schema = pgSchema('payouts')
export const messaging = messagingTables(schema)
export const { inbox, outbox, deadLetters } = messaging
export const listings = listingTable(schema)
