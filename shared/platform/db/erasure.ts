import { type SQL, sql } from 'drizzle-orm'
import type { DeadLetterTable } from '#platform/db/dead-letter.store'
import type { Tx } from '#platform/db/open'

/** Erasure of the personal data of a wallet. Rows stay, because records of money refer to them. */
export type Erasure = {
  /** Takes the lock under which the service writes rows of a wallet. */
  readonly lock: (tx: Tx, wallet: `0x${string}`) => void
  /** Selects `why` for each item of the wallet whose money or order is in progress. */
  readonly onItsWay: (wallet: string) => SQL
  /** Empties only items that have ended. */
  readonly empty: (wallet: string, repeated?: RepeatedErasure) => readonly SQL[]
}

/** Erasure that is repeated after a restore. It is limited to rows from before `erasedAt`, which may be open again. */
export type RepeatedErasure = {
  readonly erasedAt: Date
  /** Ids of the cash-outs that the rows have open, and that a bank has paid. */
  readonly paidCashouts: readonly string[]
}

export const isBefore = (column: string, repeated: RepeatedErasure | undefined) =>
  repeated ? sql`${sql.identifier(column)} < ${repeated.erasedAt.toISOString()}::timestamptz` : sql`true`

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
  empty: (wallet, repeated) => [
    sql`update ${deadLetters} d set payload = '{}' where d.redriven_at is not null
      and ${naming(words(wallet))}`,
    ...empty(wallet, repeated),
  ],
})
