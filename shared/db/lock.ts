import { type SQL, sql } from 'drizzle-orm'
import type { Tx } from '#shared/db/open'

/** Lets one transaction at a time, of all copies of a service, decide about what `name` names. */
export const lockNamed = (tx: Tx, name: string) => tx.execute(sql`select ${lockOf(name)}`)

/** The same as an expression, for a name that a row has. */
export const lockOf = (name: string | SQL) =>
  sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`
