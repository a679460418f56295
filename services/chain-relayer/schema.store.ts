import { pgSchema } from 'drizzle-orm/pg-core'
import { messagingTables } from '#shared/db/messaging'
import { pauseTable } from '#shared/db/pause.store'
import { journalTable } from '#shared/ledger/journal.store'

export const schema = pgSchema('chain_relayer')
export const messaging = messagingTables(schema)
export const { inbox, outbox, deadLetters } = messaging
/** What the lanes spent, transaction by transaction. */
export const journal = journalTable(schema)
/** Since when nothing gets a nonce but what protects money. */
export const pauses = pauseTable(schema)
