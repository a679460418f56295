import { and, eq, gt, lte, sql } from 'drizzle-orm'
import { integer, type PgSchema, primaryKey, text } from 'drizzle-orm/pg-core'
import { at, backoffOf, fromNow, isOver } from '#platform/db/columns'
import type { Database, Db } from '#platform/db/open'
import { type ProviderAccount, providerAccounts } from '#shared/money/pair'

/** Windows of the list: the last minutes, the last days, and the whole period in which money may be reversed. */
export const listingWindows = ['latest', 'recent', 'whole'] as const
export type ListingWindow = (typeof listingWindows)[number]
export type ListingKey = { readonly account: ProviderAccount; readonly window: ListingWindow }

/** Returns the table by which the instances of a service share the reading of the provider's list. */
export const listingTable = <S extends string>(schema: PgSchema<S>) =>
  schema.table(
    'listings',
    {
      account: text('account', { enum: providerAccounts }).notNull(),
      window: text('window', { enum: listingWindows }).notNull(),
      dueAt: at('due_at').notNull(),
      /** Start of the last complete read. */
      readAt: at('read_at'),
      /** Number of failed reads since then. */
      failures: integer('failures').notNull().default(0),
    },
    (table) => [primaryKey({ columns: [table.account, table.window] })],
  )
export type ListingTable = ReturnType<typeof listingTable>

const rowOf = (listings: ListingTable, { account, window }: ListingKey) =>
  and(eq(listings.account, account), eq(listings.window, window))

/** A leased read: its start, and the start of the last complete one. */
type ListingLease = { readonly beganAt: Date; readonly readAt: Date | null }

/** Longest lease in ms, after which another instance takes over from one that died while reading. */
export const leaseMaxMs = 600_000

/** Leases a read. Returns undefined if it is not due, or is leased to another instance. */
export async function leaseListing(
  database: Database,
  listings: ListingTable,
  key: ListingKey,
  everyMs: number,
): Promise<ListingLease | undefined> {
  const leaseMs = Math.min(everyMs, leaseMaxMs)
  const rows = await database.run((db) =>
    db
      .insert(listings)
      .values({ ...key, dueAt: fromNow(leaseMs) })
      .onConflictDoUpdate({
        target: [listings.account, listings.window],
        set: { dueAt: fromNow(leaseMs) },
        setWhere: isOver(listings.dueAt, everyMs),
      })
      .returning({ leasedUntil: listings.dueAt, readAt: listings.readAt }),
  )
  if (!rows[0]) return undefined
  const { leasedUntil, readAt } = rows[0]
  return { beganAt: new Date(leasedUntil.getTime() - leaseMs), readAt }
}

/** Records a complete read. The next one is due `everyMs` after the start of this one. */
export const recordWhole = (
  database: Database,
  listings: ListingTable,
  key: ListingKey,
  { beganAt, everyMs }: { beganAt: Date; everyMs: number },
) =>
  database.run((db) =>
    db
      .update(listings)
      .set({ readAt: beganAt, failures: 0, dueAt: new Date(beganAt.getTime() + everyMs) })
      .where(rowOf(listings, key)),
  )

/** Delay in ms after the first failure; it doubles with each. */
const retryMs = 60_000

/** Records a failed read and returns the number of consecutive failures. */
export async function recordFailed(
  database: Database,
  listings: ListingTable,
  key: ListingKey,
  everyMs: number,
): Promise<number> {
  const wait = backoffOf({ firstMs: retryMs, maxMs: everyMs }, listings.failures)
  const rows = await database.run((db) =>
    db
      .update(listings)
      .set({
        failures: sql`${listings.failures} + 1`,
        dueAt: fromNow(wait),
      })
      .where(rowOf(listings, key))
      .returning({ failures: listings.failures }),
  )
  return rows[0]?.failures ?? 1
}

export const giveBackListing = (database: Database, listings: ListingTable, key: ListingKey) =>
  database.run((db) => db.update(listings).set({ dueAt: sql`now()` }).where(rowOf(listings, key)))

/** Returns a condition that is false for a time from before the database's clock was set back. */
const isPast = ({ readAt }: ListingTable) => lte(readAt, fromNow(0))

/** Finds accounts with a complete read that began within `withinMs`. */
export async function findListed(
  database: Database,
  listings: ListingTable,
  window: ListingWindow,
  withinMs: number,
): Promise<ProviderAccount[]> {
  const rows = await database.read((db) =>
    db
      .select({ account: listings.account })
      .from(listings)
      .where(and(eq(listings.window, window), gt(listings.readAt, fromNow(-withinMs)), isPast(listings))),
  )
  return rows.map(({ account }) => account)
}

/** Returns when the newest complete read of any window began. */
export async function lastReadAt(db: Db, listings: ListingTable, account: ProviderAccount): Promise<Date | null> {
  const rows = await db
    .select({ readAt: listings.readAt })
    .from(listings)
    .where(and(eq(listings.account, account), isPast(listings)))
  const times = rows.flatMap(({ readAt }) => readAt?.getTime() ?? [])
  return times.length === 0 ? null : new Date(Math.max(...times))
}

/** Returns the age in ms of the oldest of the accounts' last complete reads, or null if one was never read. */
export async function listingAgeMs(
  database: Database,
  listings: ListingTable,
  window: ListingWindow = 'recent',
): Promise<number | null> {
  const age = sql`extract(epoch from now() - min(${listings.readAt})) * 1000`
  const rows = await database.read((db) =>
    db
      .select({
        ageMs: sql<number | null>`(case when bool_and(${listings.readAt} is not null)
          then ${age} end)::float8`,
      })
      .from(listings)
      .where(eq(listings.window, window)),
  )
  const ageMs = rows[0]?.ageMs ?? null
  return ageMs === null ? null : Math.round(ageMs)
}
