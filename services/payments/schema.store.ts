import { pgSchema } from 'drizzle-orm/pg-core'
import { listingTable } from '#shared/db/listing.store'
import { messagingTables } from '#shared/db/messaging'

/** Everything this service owns in Postgres. */
export const schema = pgSchema('payments')
export const messaging = messagingTables(schema)
export const { inbox, outbox, deadLetters } = messaging
/** When the provider's list of transactions was read. */
export const listings = listingTable(schema)
