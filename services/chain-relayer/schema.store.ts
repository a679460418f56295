import { pgSchema } from 'drizzle-orm/pg-core'
import { messagingTables } from '#shared/db/messaging'

export const schema = pgSchema('chain_relayer')
export const messaging = messagingTables(schema)
export const { inbox, outbox, deadLetters } = messaging
