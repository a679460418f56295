import { and, eq } from 'drizzle-orm'
import { primaryKey, text } from 'drizzle-orm/pg-core'
import { addressColumn, at } from '#platform/db/columns'
import type { Db } from '#platform/db/open'
import { schema } from '../schema.store'

/** Versions of the terms that wallets accepted, each with the time of its first acceptance. */
export const acceptedTerms = schema.table(
  'accepted_terms',
  {
    wallet: addressColumn('wallet').notNull(),
    version: text('version').notNull(),
    acceptedAt: at('accepted_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.wallet, table.version] })],
)

type Acceptance = { readonly wallet: `0x${string}`; readonly version: string }

/** Records an acceptance. A repeated one keeps the first time. */
export const insertAcceptance = (db: Db, acceptance: Acceptance) =>
  db.insert(acceptedTerms).values(acceptance).onConflictDoNothing()

export async function hasAccepted(db: Db, { wallet, version }: Acceptance): Promise<boolean> {
  const rows = await db
    .select({ wallet: acceptedTerms.wallet })
    .from(acceptedTerms)
    .where(and(eq(acceptedTerms.wallet, wallet), eq(acceptedTerms.version, version)))
  return rows.length > 0
}
