import { pgSchema } from 'drizzle-orm/pg-core'
import { mailroom } from '#shared/db/mailroom'

export const schema = pgSchema('chain_relayer')
export const mail = mailroom(schema)
export const { inbox, outbox, deadLetters } = mail
