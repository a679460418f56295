import { pgSchema } from 'drizzle-orm/pg-core'
import { mailroom } from '#shared/db/mailroom'

/** Everything the gateway owns lies in this Postgres schema. */
export const schema = pgSchema('gateway')

/** The tables of messages in and out. */
export const gatewayMailroom = mailroom(schema)
export const { inbox, outbox, deadLetters } = gatewayMailroom
