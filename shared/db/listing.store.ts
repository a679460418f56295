import { and, eq, gt, isNotNull, lte, sql } from 'drizzle-orm'
import { integer, type PgSchema, primaryKey, text } from 'drizzle-orm/pg-core'
import { at, fromNow, isOneOf } from '#shared/db/columns'
import type { InboxTable } from '#shared/db/inbox.store'
import type { Database } from '#shared/db/open'
import { type ProviderAccount, providerAccounts } from '#shared/money/pair'

/**
 * `latest`: what changed in the last minutes. `recent`: in the last days. `whole`: in all the time in
 * which money may be taken back.
 */
export const listingWindows = ['latest', 'recent', 'whole'] as const
export type ListingWindow = (typeof listingWindows)[number]
/** Which part of which account's list. */
export type ListingKey = { readonly account: ProviderAccount; readonly window: ListingWindow }

/** When the provider's list of transactions was read; copies of the service share the work. */
export const listingTable = <S extends string>(schema: PgSchema<S>) =>
  schema.table(
    'listings',
    {
      account: text('account', { enum: providerAccounts }).notNull(),
      window: text('window', { enum: listingWindows }).notNull(),
      dueAt: at('due_at').notNull(),
      /** When the last reading began that was whole. */
      readAt: at('read_at'),
      /** How many readings failed since. */
      failures: integer('failures').notNull().default(0),
    },
    (table) => [primaryKey({ columns: [table.account, table.window] })],
  )
export type ListingTable = ReturnType<typeof listingTable>

const rowOf = (listings: ListingTable, { account, window }: ListingKey) =>
  and(eq(listings.account, account), eq(listings.window, window))

/** A reading that was leased: when it began, and when the last whole one did. */
export type ListingLease = { readonly beganAt: Date; readonly readAt: Date | null }

/**
 * Takes a reading that is due, for `leaseMs`; then another copy may take it. Undefined when it is not
 * due or another copy has it.
 */
export async function leaseListing(
  database: Database,
  listings: ListingTable,
  key: ListingKey,
  leaseMs: number,
): Promise<ListingLease | undefined> {
  const rows = await database.run((db) =>
    db
      .insert(listings)
      .values({ ...key, dueAt: fromNow(leaseMs) })
      .onConflictDoUpdate({
        target: [listings.account, listings.window],
        set: { dueAt: fromNow(leaseMs) },
        setWhere: lte(listings.dueAt, sql`now()`),
      })
      .returning({ leasedUntil: listings.dueAt, readAt: listings.readAt }),
  )
  if (!rows[0]) return undefined
  const { leasedUntil, readAt } = rows[0]
  return { beganAt: new Date(leasedUntil.getTime() - leaseMs), readAt }
}

/** The reading that began then was whole; the next is due so long after it began. */
export const noteWhole = (
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

/** How soon a failed reading is repeated at first; doubles with each failure. */
const retryMs = 60_000
const doublingsMax = 10

/** The reading failed. Answers how many did in a row. */
export async function noteFailed(
  database: Database,
  listings: ListingTable,
  key: ListingKey,
  everyMs: number,
): Promise<number> {
  const doubled = sql`${retryMs} * power(2, least(${listings.failures}, ${doublingsMax}))`
  const wait = sql`least(${everyMs}::float8, ${doubled})`
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

/** Gives back a reading that was not finished, so that any copy may begin it again. */
export const giveBackListing = (database: Database, listings: ListingTable, key: ListingKey) =>
  database.run((db) => db.update(listings).set({ dueAt: sql`now()` }).where(rowOf(listings, key)))

/** The accounts of which a whole reading of this window began within the last so many ms. */
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
      .where(and(eq(listings.window, window), gt(listings.readAt, fromNow(-withinMs)))),
  )
  return rows.map(({ account }) => account)
}

/**
 * How long ago the last whole reading of a window began, in ms, of the account where that is longest
 * ago. Null when an account was never read whole.
 */
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

/** Well below what one statement may carry. */
const idsMax = 1_000

/** Which of these messages a consumer has done. */
export async function findDone(
  database: Database,
  inbox: InboxTable,
  consumer: string,
  messageIds: readonly string[],
): Promise<Set<string>> {
  const done = new Set<string>()
  for (let from = 0; from < messageIds.length; from += idsMax) {
    const some = messageIds.slice(from, from + idsMax)
    const rows = await database.read((db) =>
      db
        .select({ messageId: inbox.messageId })
        .from(inbox)
        .where(
          and(
            eq(inbox.consumer, consumer),
            isNotNull(inbox.doneAt),
            isOneOf(inbox.messageId, some),
          ),
        ),
    )
    for (const { messageId } of rows) done.add(messageId)
  }
  return done
}
