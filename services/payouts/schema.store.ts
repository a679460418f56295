import { pgSchema } from 'drizzle-orm/pg-core'
import { listingTable } from '#shared/db/listing.store'
import { mailroom } from '#shared/db/mailroom'

/** Everything this service owns in Postgres. */
export const schema = pgSchema('payouts')
export const mail = mailroom(schema)
export const { inbox, outbox, deadLetters } = mail
export const listings = listingTable(schema)
