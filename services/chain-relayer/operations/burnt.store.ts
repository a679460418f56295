import { and, eq, gte, inArray, sql } from 'drizzle-orm'
import { index, integer, primaryKey } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, midnightUtc } from '#shared/db/columns'
import type { Db, Tx } from '#shared/db/open'
import { attempts } from '../lanes/lane.store'
import { schema } from '../schema.store'
import { operations } from './operation.store'

/** Gas we paid for transfers of a wallet that reverted, finally; one row per transaction. */
export const burnt = schema.table(
  'burnt',
  {
    lane: addressColumn('lane').notNull(),
    nonce: integer('nonce').notNull(),
    wallet: addressColumn('wallet').notNull(),
    wei: amountColumn('wei').notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.lane, table.nonce] }),
    index('burnt_of_wallet').on(table.wallet, table.createdAt),
  ],
)

export const insertBurnt = (tx: Tx, row: typeof burnt.$inferInsert) => tx.insert(burnt).values(row)

/** What a wallet burnt this day (UTC), in wei. */
export async function burntToday(db: Db, wallet: `0x${string}`): Promise<bigint> {
  const [row] = await db
    .select({ wei: sql<string>`coalesce(sum(${burnt.wei}), 0)::text` })
    .from(burnt)
    .where(and(eq(burnt.wallet, wallet), gte(burnt.createdAt, midnightUtc)))
  return BigInt(row!.wei)
}

export const isBudgetSpent = async (
  db: Db,
  wallet: `0x${string}`,
  budgetWei: bigint,
): Promise<boolean> => (await burntToday(db, wallet)) >= budgetWei

/** The most that a wallet's transfers in flight would burn if all of them reverted, in wei. */
export async function atStakeWei(tx: Tx, wallet: `0x${string}`): Promise<bigint> {
  const dearest = tx
    .select({ wei: sql<string>`max(${attempts.gas} * ${attempts.maxFeeWei})`.as('wei') })
    .from(operations)
    .innerJoin(
      attempts,
      and(eq(attempts.lane, operations.lane), eq(attempts.nonce, operations.nonce)),
    )
    .where(
      and(
        eq(operations.wallet, wallet),
        inArray(operations.kind, ['take', 'send']),
        eq(operations.state, 'assigned'),
      ),
    )
    .groupBy(operations.id)
    .as('dearest')
  const [row] = await tx
    .select({ wei: sql<string>`coalesce(sum(${dearest.wei}), 0)::text` })
    .from(dearest)
  return BigInt(row!.wei)
}
