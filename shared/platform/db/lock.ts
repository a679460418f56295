import { type SQL, sql } from 'drizzle-orm'
import { announceNothing } from '#platform/db/after-commit'
import { sendAhead, type Tx } from '#platform/db/open'

/** Takes a lock before the transaction's next statement, and holds it until the end. */
export const lockNamed = (tx: Tx, name: string): void => sendAhead(tx, sql`select ${lockOf(name)}`)

export const lockOf = (name: string | SQL) => sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`

/**
 * Lets the locks of a transaction go before its commit is on the disk, so that a slow disk does not space out those who wait for
 * them. Until the next commit, a power cut or a crash of Postgres may undo it whole: nobody may be told of it before, so it
 * announces nothing, and a process that outlives Postgres may go on with a row that is gone. Later commits are on the disk only
 * together with it (https://www.postgresql.org/docs/current/wal-async-commit.html). A transaction that changes no row is none of them.
 */
export function unlockBeforeSync(tx: Tx): void {
  announceNothing(tx)
  sendAhead(tx, sql`select set_config('synchronous_commit', 'off', true)`)
}
