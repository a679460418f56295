import { pgSchema } from 'drizzle-orm/pg-core'
import { messagingTables } from '#platform/db/messaging'

/** Postgres schema of all tables that the gateway owns. */
export const schema = pgSchema('gateway')

/** Tables of incoming and outgoing messages. */
export const gatewayMessaging = messagingTables(schema)
export const { inbox, outbox, deadLetters } = gatewayMessaging
