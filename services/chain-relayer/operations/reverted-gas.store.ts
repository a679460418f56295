import { and, eq, gte, inArray, type SQL, sql } from 'drizzle-orm'
import { index, integer, primaryKey } from 'drizzle-orm/pg-core'
import type { Hex } from 'viem'
import { addressColumn, amountColumn, at, isOneOf, midnightInJakarta, textList } from '#platform/db/columns'
import { type Db, sendAhead, type Tx } from '#platform/db/open'
import { pausedSince } from '#platform/db/pause.store'
import { attempts, transactions } from '../lanes/lane.store'
import { pauses, schema } from '../schema.store'
import { operations } from './operation.table'

/** Gas paid for a wallet's transfers, recorded at finality. */
export const revertedGas = schema.table(
  'reverted_gas',
  {
    lane: addressColumn('lane').notNull(),
    nonce: integer('nonce').notNull(),
    wallet: addressColumn('wallet').notNull(),
    wei: amountColumn('wei').notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.lane, table.nonce, table.wallet] }),
    index('reverted_gas_of_wallet').on(table.wallet, table.createdAt),
    index('reverted_gas_created').on(table.createdAt),
  ],
)

/**
 * Records gas together with the next statement or the commit. `take` gets what the wallets had spent before on this day,
 * before the transaction ends.
 */
export function insertRevertedGas(
  tx: Tx,
  rows: readonly (typeof revertedGas.$inferInsert)[],
  take: (before: RevertedGas) => void,
): void {
  const added = tx.insert(revertedGas).values([...rows])
  const before = gasToday(rows.map(({ wallet }) => wallet))
  sendAhead(tx, sql`with added as (${added.getSQL()}) ${before}`, (found) => take(readGas(found)))
}

export type RevertedGas = {
  readonly weiOf: (wallet: Hex) => bigint
  readonly pausedSince: string | null
}

export const revertedGasToday = async (db: Db, wallets: readonly Hex[]): Promise<RevertedGas> =>
  readGas(await db.execute(gasToday(wallets)))

function gasToday(wallets: readonly Hex[]): SQL {
  const own = and(eq(revertedGas.wallet, sql`asked.wallet`), gte(revertedGas.createdAt, midnightInJakarta))
  return sql`
    select asked.wallet, coalesce(sum(${revertedGas.wei}), 0)::text wei, ${pausedSince(pauses, ['relaying'])} since
    from unnest(${textList(wallets)}) asked(wallet) left join ${revertedGas} on ${own}
    group by asked.wallet`
}

function readGas(found: readonly Record<string, unknown>[]): RevertedGas {
  const rows = found as readonly { wallet: Hex; wei: string; since: string | null }[]
  const byWallet = new Map(rows.map(({ wallet, wei }) => [wallet, BigInt(wei)]))
  return { weiOf: (wallet) => byWallet.get(wallet) ?? 0n, pausedSince: rows[0]?.since ?? null }
}

/** Returns the maximum gas cost of the transfers in flight. Those of a bundle share its cost evenly. */
export async function atStakeWei(tx: Tx, wallets: readonly Hex[]): Promise<Map<Hex, bigint>> {
  const dearest = tx
    .select({
      wallet: operations.wallet,
      wei: sql<string>`max(${attempts.gas} * ${attempts.maxFeeWei})
        / jsonb_array_length(${transactions.operationIds})`.as('wei'),
    })
    .from(operations)
    .innerJoin(transactions, and(eq(transactions.lane, operations.lane), eq(transactions.nonce, operations.nonce)))
    .innerJoin(attempts, and(eq(attempts.lane, operations.lane), eq(attempts.nonce, operations.nonce)))
    .where(
      and(
        isOneOf(operations.wallet, wallets),
        inArray(operations.kind, ['take', 'send']),
        eq(operations.state, 'assigned'),
      ),
    )
    .groupBy(operations.id, operations.wallet, transactions.operationIds)
    .as('dearest')
  const rows = await tx
    .select({ wallet: dearest.wallet, wei: sql<string>`ceil(sum(${dearest.wei}))::text` })
    .from(dearest)
    .groupBy(dearest.wallet)
  return new Map(rows.map(({ wallet, wei }) => [wallet, BigInt(wei)]))
}
