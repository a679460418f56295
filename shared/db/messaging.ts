import type { PgSchema } from 'drizzle-orm/pg-core'
import { deadLetterTable } from '#shared/db/dead-letter.store'
import { inboxTable } from '#shared/db/inbox.store'
import { outboxTable } from '#shared/db/outbox.store'

/** The three tables every service that moves messages keeps in its own schema. */
export const messagingTables = <S extends string>(schema: PgSchema<S>) => ({
  inbox: inboxTable(schema),
  outbox: outboxTable(schema),
  deadLetters: deadLetterTable(schema),
})
export type MessagingTables = ReturnType<typeof messagingTables>
