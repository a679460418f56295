import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { type AnyPgColumn, customType, timestamp } from 'drizzle-orm/pg-core'

/** In the smallest unit that its name states. `numeric(78,0)` holds every uint256. */
export const amountColumn = customType<{ data: bigint; driverData: string }>({
  dataType: () => 'numeric(78,0)',
  fromDriver: (text) => BigInt(text),
  toDriver: (minor) => minor.toString(),
})

/** For `in (…)`. Only for our own constants: nothing is escaped. */
export const quotedList = (words: readonly string[]): SQL => sql.raw(words.map((word) => `'${word}'`).join(', '))

/** One array: every distinct SQL text is prepared and kept on every connection. */
export const isOneOf = <T>(column: AnyPgColumn & { _: { data: T } }, values: Iterable<T>): SQL =>
  sql`${column} = any(${sql.param([...values])})`

export const textList = (values: readonly string[]): SQL => sql`${sql.param(values)}::text[]`

/** Postgres stores no NUL. */
export const storableText = (text: string): string => text.replaceAll('\0', '\ufffd')

/** `jsonb` stores neither NUL nor half of a surrogate pair, which JSON.stringify escapes. */
export const storableJson = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f]..)/g, '$1\ufffd'))

export const addressColumn = customType<{ data: `0x${string}`; driverData: string }>({
  dataType: () => 'text',
  toDriver: (address) => address.toLowerCase(),
})

export const at = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 })

export const timeFrom = (time: Date) => sql`${time.toISOString()}::timestamptz`

/** Not from the start of the transaction, which may have waited for a lock. */
export const fromNow = (ms: number | SQLWrapper) => sql`clock_timestamp() + ${ms} * interval '1 millisecond'`

/**
 * A time that is never set further ahead than `longestMs` lies further only if the database's clock was set
 * back since. Twice as far, since it may have been set after this transaction began.
 */
export const isOver = (time: SQLWrapper, longestMs: number, now: SQLWrapper = sql`now()`) =>
  sql`(${time} <= ${now} or ${time} > ${now} + ${2 * longestMs} * interval '1 millisecond')`

/** Start of the UTC day. */
export const midnightUtc = sql`date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`

export const timestamps = () => ({
  createdAt: at('created_at').notNull().defaultNow(),
  updatedAt: at('updated_at').notNull().defaultNow(),
})

/** Last change of any kind, manual ones too: a trigger of `infra/migrations/journals.ts` sets it. */
export const changedAt = () => at('changed_at').notNull().defaultNow()
