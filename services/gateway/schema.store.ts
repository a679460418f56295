import { pgSchema } from 'drizzle-orm/pg-core'
import { messagingTables } from '#shared/db/messaging'

/** Everything the gateway owns lies in this Postgres schema. */
export const schema = pgSchema('gateway')

/** The tables of messages in and out. */
export const gatewayMessaging = messagingTables(schema)
export const { inbox, outbox, deadLetters } = gatewayMessaging
