import { and, eq, gte, sql } from 'drizzle-orm'
import { index, primaryKey, text } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, midnightUtc } from '#shared/db/columns'
import { lockNamed } from '#shared/db/lock'
import type { Tx } from '#shared/db/open'
import { schema } from '../schema.store'
import type { Spend, Spending } from './policy'

/** What each key signed away, once for each thing: what the limits of a day are measured against. */
export const spent = schema.table(
  'spent',
  {
    signer: addressColumn('signer').notNull(),
    identity: text('identity').$type<`0x${string}`>().notNull(),
    spending: text('spending').$type<Spending>().notNull(),
    /** 10⁻⁶ AUSD; of a drip wei. */
    amount: amountColumn('amount').notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.signer, table.identity] }),
    index('spent_of_day').on(table.signer, table.spending, table.createdAt),
    index('spent_created').on(table.createdAt),
  ],
)

/**
 * Counts what a key is about to sign, each thing once however often it is signed, and answers what
 * its day (UTC) comes to; undefined when all of it was counted before. Until the transaction ends
 * nobody else counts for this key.
 */
export async function countSpent(
  tx: Tx,
  signer: `0x${string}`,
  spending: Spending,
  spends: readonly Spend[],
): Promise<bigint | undefined> {
  await lockNamed(tx, `spent:${signer}:${spending}`)
  const counted = await tx
    .insert(spent)
    .values(spends.map((spend) => ({ ...spend, signer })))
    .onConflictDoNothing()
    .returning({ identity: spent.identity })
  if (counted.length === 0) return undefined
  const [row] = await tx
    .select({ sum: sql<string>`coalesce(sum(${spent.amount}), 0)::text` })
    .from(spent)
    .where(
      and(
        eq(spent.signer, signer),
        eq(spent.spending, spending),
        gte(spent.createdAt, midnightUtc),
      ),
    )
  return BigInt(row!.sum)
}
