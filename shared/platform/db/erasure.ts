import { type SQL, sql } from 'drizzle-orm'
import type { DeadLetterTable } from '#platform/db/dead-letter.store'
import type { Tx } from '#platform/db/open'

/** Erasure of the personal data of a wallet. Rows stay, because records of money refer to them. */
export type Erasure = {
  /** Takes the lock under which the service writes rows of a wallet. */
  readonly lock: (tx: Tx, wallet: `0x${string}`) => Promise<unknown>
  /** Selects `why` for each item of the wallet whose money or order is in progress. */
  readonly onItsWay: (wallet: string) => SQL
  /** Empties only items that have ended. After a restore, `erasedAt` limits it to rows from before that erasure. */
  readonly empty: (wallet: string, erasedAt?: Date) => readonly SQL[]
}

export const isBefore = (column: string, erasedAt: Date | undefined) =>
  erasedAt ? sql`${sql.identifier(column)} < ${erasedAt.toISOString()}::timestamptz` : sql`true`

/** Text that replaces a note where one is required. */
export const erasedNote = 'erased'

/** Returns a condition for dead letters `d` whose payload contains a word that the statement selects. */
const naming = (words: SQL) =>
  sql`exists (select from (${words}) w (word) where strpos(lower(d.payload::text), lower(w.word)) > 0)`

/** Adds dead letters to an erasure; `words` selects the wallet and the ids of its items. */
export const withDeadLetters = (
  deadLetters: DeadLetterTable,
  words: (wallet: string) => SQL,
  { lock, onItsWay, empty }: Erasure,
): Erasure => ({
  lock,
  onItsWay: (wallet) => sql`${onItsWay(wallet)}
    union all select 'dead letter ' || d.message_id || ' is open' from ${deadLetters} d
    where d.redriven_at is null and ${naming(words(wallet))}`,
  // This statement comes first, because the others empty ids by which a message names the user.
  empty: (wallet, erasedAt) => [
    sql`update ${deadLetters} d set payload = '{}' where d.redriven_at is not null
      and ${naming(words(wallet))}`,
    ...empty(wallet, erasedAt),
  ],
})
