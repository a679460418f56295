import { pgSchema } from 'drizzle-orm/pg-core'
import { messagingTables } from '#platform/db/messaging'

export const schema = pgSchema('gateway')

export const gatewayMessaging = messagingTables(schema)
export const { inbox, outbox, deadLetters } = gatewayMessaging
