import { sql } from 'drizzle-orm'
import { index, primaryKey, text } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, midnightUtc, textList } from '#platform/db/columns'
import { lockNamed } from '#platform/db/lock'
import type { Tx } from '#platform/db/open'
import { schema } from '../schema.store'
import type { Spend, Spending } from './policy'

export const signedAmounts = schema.table(
  'signed_amounts',
  {
    signer: addressColumn('signer').notNull(),
    identity: text('identity').$type<`0x${string}`>().notNull(),
    spending: text('spending').$type<Spending>().notNull(),
    /** Amount in 10⁻⁶ AUSD or, for a drip, in wei. */
    amount: amountColumn('amount').notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.signer, table.identity] }),
    index('signed_amounts_created').on(table.createdAt),
  ],
)

/** Totals per day, kept because summing the rows would get slower during the day. */
export const signedTotals = schema.table(
  'signed_totals',
  {
    signer: addressColumn('signer').notNull(),
    spending: text('spending').$type<Spending>().notNull(),
    day: at('day').notNull(),
    total: amountColumn('total').notNull(),
  },
  (table) => [primaryKey({ columns: [table.signer, table.spending, table.day] })],
)

/**
 * Counts each identity once and returns the day's total, or undefined if all identities were counted before. Locks the
 * counter until the transaction ends.
 */
export async function countSigned(
  tx: Tx,
  signer: `0x${string}`,
  spending: Spending,
  spends: readonly Spend[],
): Promise<bigint | undefined> {
  lockNamed(tx, `signed:${signer}:${spending}`)
  // guard: a transaction re-signed with a higher fee counts once
  const [day] = await tx.execute<{ added: number; total: string }>(sql`
    with added as (
      insert into ${signedAmounts} (signer, identity, spending, amount)
      select ${signer}::text, given.identity, ${spending}::text, given.amount::numeric
      from unnest(${textList(spends.map(({ identity }) => identity))},
        ${textList(spends.map((spend) => spend.amount.toString()))}) given(identity, amount)
      on conflict do nothing returning amount),
    more as (select count(*)::int as added, coalesce(sum(amount), 0) as amount from added)
    insert into ${signedTotals} as days (signer, spending, day, total)
    select ${signer}::text, ${spending}::text, ${midnightUtc}, amount from more
    on conflict (signer, spending, day) do update set total = days.total + excluded.total
    returning (select added from more) added, total::text`)
  return day!.added === 0 ? undefined : BigInt(day!.total)
}
