import { and, asc, eq, isNotNull, lte, or, sql } from 'drizzle-orm'
import { boolean, index, text } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, timestamps } from '#shared/db/columns'
import type { Db, Tx } from '#shared/db/open'
import { schema } from '../schema.store'

/** Wallets that were ever frozen: whether they are now, and what the chain was last told. */
export const wallets = schema.table(
  'wallets',
  {
    wallet: addressColumn('wallet').primaryKey(),
    frozen: boolean('frozen').notNull(),
    /** Of the newest order to the relayer; the highest counts. */
    revision: amountColumn('revision').notNull(),
    /** When the order is sent again if the chain has not confirmed it; null: it has. */
    orderAgainAt: at('order_again_at'),
    /** An operator asked for the end of the freeze, and why. */
    clearRequestedAt: at('clear_requested_at'),
    clearReason: text('clear_reason'),
    ...timestamps(),
  },
  (table) => [
    index('wallets_due').on(table.orderAgainAt).where(sql`${table.orderAgainAt} is not null`),
    index('wallets_clearing')
      .on(table.clearRequestedAt)
      .where(sql`${table.clearRequestedAt} is not null`),
  ],
)
export type WalletRow = typeof wallets.$inferSelect

export async function findWallet(db: Db, wallet: `0x${string}`): Promise<WalletRow | undefined> {
  const rows = await db.select().from(wallets).where(eq(wallets.wallet, wallet))
  return rows[0]
}

/** Stores whether the wallet is frozen from now on, under a revision above the last one. */
export async function storeFreeze(
  tx: Tx,
  change: { wallet: `0x${string}`; frozen: boolean; nowMs: number; orderAgainAt: Date },
): Promise<WalletRow> {
  const { wallet, frozen, nowMs, orderAgainAt } = change
  const set = { frozen, orderAgainAt, clearRequestedAt: null, updatedAt: sql`now()` }
  const rows = await tx
    .insert(wallets)
    .values({ wallet, frozen, revision: BigInt(nowMs), orderAgainAt })
    .onConflictDoUpdate({
      target: wallets.wallet,
      set: { ...set, revision: sql`greatest(${wallets.revision} + 1, ${String(nowMs)}::numeric)` },
    })
    .returning()
  return rows[0]!
}

/** The chain has this revision: the order is not sent again. */
export const confirmFreeze = (tx: Tx, wallet: `0x${string}`, revision: bigint) =>
  tx
    .update(wallets)
    .set({ orderAgainAt: null, updatedAt: sql`now()` })
    .where(and(eq(wallets.wallet, wallet), eq(wallets.revision, revision)))

/** Wallets whose order is unanswered for too long, or whose freeze an operator ended. */
export const findDueWallets = (db: Db, now: Date, rowsMax: number): Promise<WalletRow[]> =>
  db
    .select()
    .from(wallets)
    .where(or(lte(wallets.orderAgainAt, now), isNotNull(wallets.clearRequestedAt)))
    .orderBy(asc(wallets.updatedAt))
    .limit(rowsMax)

/** Plans when the order of a wallet is sent again. */
export const planOrder = (tx: Tx, wallet: `0x${string}`, orderAgainAt: Date) =>
  tx.update(wallets).set({ orderAgainAt, updatedAt: sql`now()` }).where(eq(wallets.wallet, wallet))

/** How many wallets are frozen. */
export async function countFrozen(db: Db): Promise<number> {
  const [frozen] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(wallets)
    .where(eq(wallets.frozen, true))
  return frozen!.count
}
