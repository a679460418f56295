import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { type AnyPgColumn, customType, timestamp } from 'drizzle-orm/pg-core'

/** A whole amount in the smallest unit its name says; `numeric(78,0)` holds every uint256. */
export const amountColumn = customType<{ data: bigint; driverData: string }>({
  dataType: () => 'numeric(78,0)',
  fromDriver: (text) => BigInt(text),
  toDriver: (minor) => minor.toString(),
})

/** Words of ours as a list for `in (…)`; never what somebody else wrote: nothing in it is escaped. */
export const quotedList = (words: readonly string[]): SQL =>
  sql.raw(words.map((word) => `'${word}'`).join(', '))

/**
 * Whether a column has one of these values. They travel as one list, so that the statement stays the
 * same however many there are: each text of a statement is prepared and kept on every connection.
 */
export const isOneOf = <T>(column: AnyPgColumn & { _: { data: T } }, values: Iterable<T>): SQL =>
  sql`${column} = any(${sql.param([...values])})`

/** Texts as one list, for a statement that reads them by `unnest`. */
export const textList = (values: readonly string[]): SQL => sql`${sql.param(values)}::text[]`

/** A lower-case 0x address. */
export const addressColumn = customType<{ data: `0x${string}`; driverData: string }>({
  dataType: () => 'text',
  toDriver: (address) => address.toLowerCase(),
})

export const at = (name: string) =>
  timestamp(name, { withTimezone: true, mode: 'date', precision: 3 })

/**
 * So many ms from now, where a lease or a wait ends: by the clock of the database, and not from the
 * start of a transaction that waited for a lock.
 */
export const fromNow = (ms: number | SQLWrapper) =>
  sql`clock_timestamp() + ${ms} * interval '1 millisecond'`

/** When this day began, UTC, by the clock of the database: limits of a day count from here. */
export const midnightUtc = sql`date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`

/** When a row was written and last changed. */
export const timestamps = () => ({
  createdAt: at('created_at').notNull().defaultNow(),
  updatedAt: at('updated_at').notNull().defaultNow(),
})

/**
 * When anything of a row changed last, by whomever: a trigger of `infra/migrations/journals.ts` sets
 * it, so that a change by hand shows too.
 */
export const changedAt = () => at('changed_at').notNull().defaultNow()
