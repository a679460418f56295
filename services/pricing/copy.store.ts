import { and, eq, type SQL, sql } from 'drizzle-orm'
import { integer, text } from 'drizzle-orm/pg-core'
import { at, fromNow } from '#shared/db/columns'
import type { Database } from '#shared/db/open'
import { copyEnd } from './quote-id'
import { schema } from './schema.store'

/**
 * The numbers that copies of the service put into the ids of their quotes. What a holder is given
 * is no time to live but ends: quotes that end before `endsUntil`, and not before what the holder
 * before was given, are the holder's alone. So no two copies make the same id, whatever their own
 * clocks say and however long one of them stood still.
 */
export const copies = schema.table('copies', {
  number: integer('number').primaryKey(),
  /** Made anew by each process; null: handed back. */
  holder: text('holder'),
  endsUntil: at('ends_until').notNull(),
})

/**
 * A number while it is a process's own. Its quotes end from `endsFromMs` on and before
 * `endsUntilMs`.
 */
export type Copy = {
  readonly number: number
  readonly holder: string
  readonly endsFromMs: number
  readonly endsUntilMs: number
}

/** The row of each number, if it is not there yet. */
export const seedCopies = (database: Database) =>
  database.run((db) =>
    db.execute(sql`
      insert into ${copies} (number, ends_until)
      select number, 'epoch' from generate_series(0, ${copyEnd - 1}) as number
      on conflict do nothing`),
  )

/**
 * Milliseconds: how long the process's quotes live, and how long the number is its own at least.
 */
type Terms = { readonly ttlMs: number; readonly leaseMs: number }

/**
 * Takes the number that has rested longest, of those whose given ends have passed for quotes that
 * live `ttlMs`. Undefined: every number is somebody's.
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

/** Holds on to a number for later ends; undefined when it is another's by now. */
export async function renewCopy(
  database: Database,
  copy: Copy,
  { ttlMs, leaseMs }: Terms,
): Promise<Copy | undefined> {
  const [row] = await database.run((db) =>
    db
      .update(copies)
      // Never less than was given before, should the clock of the database be set back.
      .set({ endsUntil: sql`greatest(${copies.endsUntil}, ${fromNow(ttlMs + leaseMs)})` })
      .where(holds(copy))
      .returning({ endsUntil: copies.endsUntil }),
  )
  return row && { ...copy, endsUntilMs: row.endsUntil.getTime() }
}

/** Hands a number back: it is free for quotes that end from `endsUntilMs` on. */
export const handBackCopy = (database: Database, copy: Copy, endsUntilMs: number) =>
  database.run((db) =>
    db
      .update(copies)
      .set({ holder: null, endsUntil: new Date(endsUntilMs) })
      .where(holds(copy)),
  )

const holds = ({ number, holder }: Copy) =>
  and(eq(copies.number, number), eq(copies.holder, holder))
