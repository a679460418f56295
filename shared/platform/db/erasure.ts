import { type SQL, sql } from 'drizzle-orm'
import type { DeadLetterTable } from '#platform/db/dead-letter.store'
import type { Tx } from '#platform/db/open'

/** Rows stay, because records of money refer to them. */
export type Erasure = {
  /** Takes the lock under which the service writes rows of a wallet. */
  readonly lock: (tx: Tx, wallet: `0x${string}`) => Promise<unknown>
  /** Selects `why` of each item of the wallet whose money or order is on its way. */
  readonly onItsWay: (wallet: string) => SQL
  /** Only ended items. `erasedAt`, after a restore: only rows from before that erasure. */
  readonly empty: (wallet: string, erasedAt?: Date) => readonly SQL[]
}

export const isBefore = (column: string, erasedAt: Date | undefined) =>
  erasedAt ? sql`${sql.identifier(column)} < ${erasedAt.toISOString()}::timestamptz` : sql`true`

/** Replaces a note where one is required. */
export const erasedNote = 'erased'

/** Dead letters `d` whose payload has one of the words that a statement selects. */
const naming = (words: SQL) =>
  sql`exists (select from (${words}) w (word) where strpos(lower(d.payload::text), lower(w.word)) > 0)`

/** `words` selects the wallet and the ids of its items. */
export const withDeadLetters = (
  deadLetters: DeadLetterTable,
  words: (wallet: string) => SQL,
  { lock, onItsWay, empty }: Erasure,
): Erasure => ({
  lock,
  onItsWay: (wallet) => sql`${onItsWay(wallet)}
    union all select 'dead letter ' || d.message_id || ' is open' from ${deadLetters} d
    where d.redriven_at is null and ${naming(words(wallet))}`,
  // First, because the other statements empty ids by which a message names the user.
  empty: (wallet, erasedAt) => [
    sql`update ${deadLetters} d set payload = '{}' where d.redriven_at is not null
      and ${naming(words(wallet))}`,
    ...empty(wallet, erasedAt),
  ],
})
