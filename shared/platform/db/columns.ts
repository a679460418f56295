import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { type AnyPgColumn, customType, timestamp } from 'drizzle-orm/pg-core'
import { type Backoff, doublingsMax } from '#platform/backoff'

/** Column of an amount in the smallest unit that its name states. `numeric(78,0)` holds every uint256. */
export const amountColumn = customType<{ data: bigint; driverData: string }>({
  dataType: () => 'numeric(78,0)',
  fromDriver: (text) => BigInt(text),
  toDriver: (minor) => minor.toString(),
})

/** Returns a list for `in (…)`. It is only for our own constants, because nothing is escaped. */
export const quotedList = (words: readonly string[]): SQL => sql.raw(words.map((word) => `'${word}'`).join(', '))

/** Returns a condition with one array, because every distinct SQL text is prepared and kept on every connection. */
export const isOneOf = <T>(column: AnyPgColumn & { _: { data: T } }, values: Iterable<T>): SQL =>
  sql`${column} = any(${sql.param([...values])})`

export const textList = (values: readonly string[]): SQL => sql`${sql.param(values)}::text[]`

/** Replaces NUL, which Postgres does not store. */
export const storableText = (text: string): string => text.replaceAll('\0', '\ufffd')

/** Replaces NUL and half of a surrogate pair, which `jsonb` does not store and JSON.stringify escapes. */
export const storableJson = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f]..)/g, '$1\ufffd'))

export const addressColumn = customType<{ data: `0x${string}`; driverData: string }>({
  dataType: () => 'text',
  toDriver: (address) => address.toLowerCase(),
})

export const at = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 })

export const timeFrom = (time: Date) => sql`${time.toISOString()}::timestamptz`

/** Returns a time `ms` from now, not from the start of the transaction, which may have waited for a lock. */
export const fromNow = (ms: number | SQLWrapper) => sql`clock_timestamp() + ${ms} * interval '1 millisecond'`

/** Returns the wait in ms before the next try, which doubles with each failure, as `backoffMs` does. */
export const backoffOf = ({ firstMs, maxMs }: Backoff<number | SQLWrapper>, failures: SQLWrapper) =>
  sql`least(${firstMs}::float8 * power(2, least(${failures}, ${doublingsMax})), ${maxMs}::float8)`

/**
 * Returns a condition that the time is over. A time that is never set further ahead than `longestMs` lies further only
 * if the database's clock was set back since. The limit is twice as far, because the time may have been set after this
 * transaction began.
 */
export const isOver = (time: SQLWrapper, longestMs: number, now: SQLWrapper = sql`now()`) =>
  sql`(${time} <= ${now} or ${time} > ${now} + ${2 * longestMs} * interval '1 millisecond')`

/**
 * Returns a condition that a row was last changed while the database's clock was ahead of where it is now, so that the
 * row's other times mean nothing either. The margin covers a change that this statement waited for.
 */
export const isFromAhead = (changedAt: SQLWrapper) => sql`${changedAt} > statement_timestamp() + interval '10 seconds'`

/** Start of the current day in Jakarta, where the day of the limits begins that are not about money of another country. */
export const midnightInJakarta = startOfDayInJakarta(sql`now()`)

/** Returns the start of the day in Jakarta that contains the time. */
export function startOfDayInJakarta(time: SQL): SQL {
  return sql`date_trunc('day', ${time} at time zone 'Asia/Jakarta') at time zone 'Asia/Jakarta'`
}

/** Start of the current UTC day. */
export const midnightUtc = sql`date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`

export const timestamps = () => ({
  createdAt: at('created_at').notNull().defaultNow(),
  updatedAt: at('updated_at').notNull().defaultNow(),
})

/**
 * Column with the last change of any kind, including manual ones: a trigger of `infra/migrations/journals.ts` sets it.
 */
export const changedAt = () => at('changed_at').notNull().defaultNow()
