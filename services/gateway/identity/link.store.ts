import { and, eq, gte, isNull, or, sql } from 'drizzle-orm'
import { index, text, union, uuid } from 'drizzle-orm/pg-core'
import { addressColumn, at, midnightInJakarta } from '#platform/db/columns'
import type { Db } from '#platform/db/open'
import { schema } from '../schema.store'
import { identities } from './identity.store'

export const links = schema.table(
  'identity_links',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    wallet: addressColumn('wallet').notNull(),
    provider: text('provider').notNull(),
    /** Id of the inquiry; null if the provider gives none. */
    providerRef: text('provider_ref'),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (table) => [
    index('identity_links_wallet').on(table.wallet, table.createdAt),
    index('identity_links_ref').on(table.providerRef),
  ],
)

type Link = Pick<typeof links.$inferInsert, 'wallet' | 'provider' | 'providerRef'>

export const insertLink = (db: Db, link: Link) => db.insert(links).values(link)

export async function countLinksToday(db: Db, wallet: `0x${string}`): Promise<number> {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(links)
    .where(and(eq(links.wallet, wallet), gte(links.createdAt, midnightInJakarta)))
  return row?.count ?? 0
}

/** Finds the inquiries that we created for a wallet, or accepted before we kept their ids. */
export async function findOwnRefs(db: Db, wallet: `0x${string}`): Promise<ReadonlySet<string>> {
  const created = db.select({ ref: links.providerRef }).from(links).where(eq(links.wallet, wallet))
  const held = db.select({ ref: identities.providerRef }).from(identities).where(eq(identities.wallet, wallet))
  // Each half reads its own index; a condition on a join of the two tables would read both from end to end.
  const rows = await union(created, held)
  return new Set(rows.flatMap(({ ref }) => ref ?? []))
}

/** Finds the wallets for which we created an inquiry. */
export async function findWalletsOfRef(db: Db, ref: string | null): Promise<`0x${string}`[]> {
  if (ref === null) return []
  const rows = await db.selectDistinct({ wallet: links.wallet }).from(links).where(eq(links.providerRef, ref))
  return rows.map(({ wallet }) => wallet)
}

/** Returns true if we created the inquiry, or if an erasure has emptied the ids of the wallet's inquiries. */
export async function isOwnRef(
  db: Db,
  { wallet, provider, ref }: { wallet: `0x${string}`; provider: string; ref: string },
): Promise<boolean> {
  const knows = (table: typeof links | typeof identities) =>
    db
      .select({ wallet: table.wallet })
      .from(table)
      .where(
        and(
          eq(table.wallet, wallet),
          eq(table.provider, provider),
          or(isNull(table.providerRef), eq(table.providerRef, ref)),
        ),
      )
      .limit(1)
  const found = await Promise.all([knows(links), knows(identities)])
  return found.flat().length > 0
}
