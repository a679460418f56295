import { type SQL, sql } from 'drizzle-orm'
import type { Tx } from '#platform/db/open'

/** Takes a lock that is held until the end of the transaction. */
export const lockNamed = (tx: Tx, name: string) => tx.execute(sql`select ${lockOf(name)}`)

export const lockOf = (name: string | SQL) => sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`
