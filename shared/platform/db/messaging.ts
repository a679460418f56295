import { type SQL, sql } from 'drizzle-orm'
import type { PgSchema } from 'drizzle-orm/pg-core'
import { deadLetterTable } from '#platform/db/dead-letter.store'
import { inboxTable } from '#platform/db/inbox.store'
import { type Db, sendAhead, type Tx } from '#platform/db/open'
import { outboxTable } from '#platform/db/outbox.store'

export const messagingTables = <S extends string>(schema: PgSchema<S>) => ({
  inbox: inboxTable(schema),
  outbox: outboxTable(schema),
  deadLetters: deadLetterTable(schema),
})
export type MessagingTables = ReturnType<typeof messagingTables>

/** Claims a delivered message like `claim`, and closes its dead letter, because the message was delivered again. */
export async function claimDelivered(
  db: Db,
  messaging: Pick<MessagingTables, 'inbox' | 'deadLetters'>,
  consumer: string,
  messageId: string,
): Promise<boolean> {
  const claimed = await db.execute(sql`${claiming(messaging, consumer, messageId)} select from claimed`)
  return claimed.length === 1
}

/** Claims a message that nobody can have claimed, together with the next statement. Fails the transaction if it is claimed. */
export const claimFresh = (
  tx: Tx,
  messaging: Pick<MessagingTables, 'inbox' | 'deadLetters'>,
  consumer: string,
  messageId: string,
): void =>
  // guard: a fresh message that is claimed is not handled
  sendAhead(tx, sql`${claiming(messaging, consumer, messageId)} select 1 / (select count(*) from claimed)`)

// guard: of two instances with the same message, one claims it
// guard: an instance waits while another handles the same message
const claiming = (
  { inbox, deadLetters }: Pick<MessagingTables, 'inbox' | 'deadLetters'>,
  consumer: string,
  messageId: string,
): SQL => sql`
  with claimed as (
    insert into ${inbox} as held (consumer, message_id, done_at)
    values (${consumer}, ${messageId}, now())
    on conflict (consumer, message_id) do update set done_at = now() where held.done_at is null
    returning 1
  ), redriven as (
    update ${deadLetters} set redriven_at = now()
    where consumer = ${consumer} and message_id = ${messageId} and exists (select from claimed)
  )`
