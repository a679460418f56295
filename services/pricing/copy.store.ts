import { and, eq, type SQL, sql } from 'drizzle-orm'
import { integer, text } from 'drizzle-orm/pg-core'
import { at, fromNow } from '#shared/db/columns'
import type { Database } from '#shared/db/open'
import { copyEnd } from './quote-id'
import { schema } from './schema.store'

/**
 * Instance numbers, which are part of the quote ids. A lease grants a range of quote expiry times:
 * from the end of the previous lease up to `endsUntil`. So no two instances issue the same id,
 * whatever their clocks show and even if one resumes after a long pause.
 */
export const copies = schema.table('copies', {
  number: integer('number').primaryKey(),
  /** Random id of the holding process; null if released. */
  holder: text('holder'),
  endsUntil: at('ends_until').notNull(),
})

/** A leased number, for quotes that expire from `endsFromMs` and before `endsUntilMs`. */
export type Copy = {
  readonly number: number
  readonly holder: string
  readonly endsFromMs: number
  readonly endsUntilMs: number
}

/** Inserts the missing rows of the numbers. */
export const seedCopies = (database: Database) =>
  database.run((db) =>
    db.execute(sql`
      insert into ${copies} (number, ends_until)
      select number, 'epoch' from generate_series(0, ${copyEnd - 1}) as number
      on conflict do nothing`),
  )

/** Lifetime of quotes and minimum lifetime of a lease, in ms. */
type Terms = { readonly ttlMs: number; readonly leaseMs: number }

/**
 * Leases the number that has been free longest, among those whose granted range a new quote (of
 * `ttlMs`) would not touch. Returns undefined if none is free.
 */
export async function leaseCopy(
  database: Database,
  holder: string,
  { ttlMs, leaseMs }: Terms,
): Promise<Copy | undefined> {
  const [leased] = await database.run((db) =>
    db.execute<{ number: number; from: number; until: number }>(sql`
      with free as (
        select number, ends_until from ${copies}
        where ends_until <= ${fromNow(ttlMs)}
        order by ends_until, number limit 1
        for update skip locked
      )
      update ${copies} as copy set holder = ${holder}, ends_until = ${fromNow(ttlMs + leaseMs)}
      from free where copy.number = free.number
      returning copy.number, ${unixMs(sql`free.ends_until`)} as from,
        ${unixMs(sql`copy.ends_until`)} as until`),
  )
  return (
    leased && { number: leased.number, holder, endsFromMs: leased.from, endsUntilMs: leased.until }
  )
}

const unixMs = (column: SQL) => sql`(extract(epoch from ${column}) * 1000)::float8`

/** Extends a lease to later expiry times; returns undefined if another process has the number. */
export async function renewCopy(
  database: Database,
  copy: Copy,
  { ttlMs, leaseMs }: Terms,
): Promise<Copy | undefined> {
  const [row] = await database.run((db) =>
    db
      .update(copies)
      // Never earlier than before, even if the database clock is set back.
      .set({ endsUntil: sql`greatest(${copies.endsUntil}, ${fromNow(ttlMs + leaseMs)})` })
      .where(holds(copy))
      .returning({ endsUntil: copies.endsUntil }),
  )
  return row && { ...copy, endsUntilMs: row.endsUntil.getTime() }
}

/** Releases a number, which is then free for quotes that expire from `endsUntilMs`. */
export const handBackCopy = (database: Database, copy: Copy, endsUntilMs: number) =>
  database.run((db) =>
    db
      .update(copies)
      .set({ holder: null, endsUntil: new Date(endsUntilMs) })
      .where(holds(copy)),
  )

const holds = ({ number, holder }: Copy) =>
  and(eq(copies.number, number), eq(copies.holder, holder))
