import { type SQL, sql } from 'drizzle-orm'
import { sendAhead, type Tx } from '#platform/db/open'

/** Takes a lock before the transaction's next statement, and holds it until the end. */
export const lockNamed = (tx: Tx, name: string): void => sendAhead(tx, sql`select ${lockOf(name)}`)

export const lockOf = (name: string | SQL) => sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`
