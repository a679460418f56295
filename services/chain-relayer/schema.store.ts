import { pgSchema } from 'drizzle-orm/pg-core'
import { messagingTables } from '#platform/db/messaging'
import { pauseTable } from '#platform/db/pause.store'
import { journalTable } from '#shared/ledger/journal.store'
import { approvalTable } from '#shared/operators/approval.store'

export const schema = pgSchema('chain_relayer')
export const messaging = messagingTables(schema)
export const { inbox, outbox, deadLetters } = messaging
export const journal = journalTable(schema)
export const pauses = pauseTable(schema)
export const approvals = approvalTable(schema)
