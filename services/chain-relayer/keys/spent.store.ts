import { and, eq, gte, sql } from 'drizzle-orm'
import { index, primaryKey, text } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, midnightUtc, textList } from '#shared/db/columns'
import { lockNamed } from '#shared/db/lock'
import type { Tx } from '#shared/db/open'
import { sumWhere } from '#shared/db/sum'
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
  const { amount } = spent
  const isOfDay = and(
    eq(spent.signer, signer),
    eq(spent.spending, spending),
    gte(spent.createdAt, midnightUtc),
  )!
  // The sum does not see what the same statement adds.
  const [day] = await tx.execute<{ added: number; sum: string }>(sql`
    with added as (
      insert into ${spent} (signer, identity, spending, amount)
      select ${signer}::text, given.identity, ${spending}::text, given.amount::numeric
      from unnest(${textList(spends.map(({ identity }) => identity))},
        ${textList(spends.map((spend) => spend.amount.toString()))}) given(identity, amount)
      on conflict do nothing returning amount)
    select count(*)::int added, (coalesce(sum(amount), 0) + ${sumWhere(amount, spent, isOfDay)})::text sum
    from added`)
  return day!.added === 0 ? undefined : BigInt(day!.sum)
}
