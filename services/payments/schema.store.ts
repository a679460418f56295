import { pgSchema } from 'drizzle-orm/pg-core'
import { mailroom } from '#shared/db/mailroom'

/** Everything this service owns in Postgres. */
export const schema = pgSchema('payments')
export const mail = mailroom(schema)
export const { inbox, outbox, deadLetters } = mail
