import { type SQL, sql } from 'drizzle-orm'
import type { PgSchema } from 'drizzle-orm/pg-core'
import { textList } from '#platform/db/columns'
import { orFail, type SideWrite, withSideWrites } from '#platform/db/compiled-query'
import { deadLetterTable } from '#platform/db/dead-letter.store'
import { inboxTable } from '#platform/db/inbox.store'
import { type Database, type Db, sendAhead, type Tx } from '#platform/db/open'
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
  const { claiming, redriving } = claimOf(messaging, consumer, messageId)
  const claimed = await db.execute(withSideWrites(claiming, [redriving]))
  return claimed.length === 1
}

/**
 * Claims a message that nobody can have claimed, together with the next statement. The transaction fails (`isTooLate`) if it is
 * claimed.
 */
export function claimFresh(
  tx: Tx,
  messaging: Pick<MessagingTables, 'inbox' | 'deadLetters'>,
  consumer: string,
  messageId: string,
): void {
  const { claiming, redriving } = claimOf(messaging, consumer, messageId)
  // guard: a fresh message that is claimed is not handled
  sendAhead(tx, orFail(claiming, [redriving]))
}

type Delivery = { readonly consumer: string; readonly messageId: string }

/** Claims messages that led to nothing, unless they are claimed already. */
export const claimKnown = (database: Database, inbox: MessagingTables['inbox'], known: readonly Delivery[]) =>
  database.run((db) =>
    db.execute(sql`
      insert into ${inbox} (consumer, message_id, done_at)
      select known.consumer, known.message_id, now()
      from unnest(${textList(known.map(({ consumer }) => consumer))},
        ${textList(known.map(({ messageId }) => messageId))}) known (consumer, message_id)
      on conflict do nothing`),
  )

const claimOf = (
  { inbox, deadLetters }: Pick<MessagingTables, 'inbox' | 'deadLetters'>,
  consumer: string,
  messageId: string,
): { readonly claiming: SQL; readonly redriving: SideWrite } => ({
  // guard: of two instances with the same message, one claims it
  // guard: an instance waits while another handles the same message
  claiming: sql`
    insert into ${inbox} as held (consumer, message_id, done_at)
    values (${consumer}, ${messageId}, now())
    on conflict (consumer, message_id) do update set done_at = now() where held.done_at is null
    returning 1`,
  redriving: sql`
    update ${deadLetters} set redriven_at = now()
    where consumer = ${consumer} and message_id = ${messageId} and exists (select from moved)`,
})
