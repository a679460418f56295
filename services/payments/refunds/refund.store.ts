import { and, asc, eq, isNotNull, lte, ne, or, type SQLWrapper, sql } from 'drizzle-orm'
import { boolean, check, index, text } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, timestamps } from '#shared/db/columns'
import type { Db, Tx } from '#shared/db/open'
import type { RefundStatus } from '../provider'
import { schema } from '../schema.store'

// Three tables, each a consequence of the previous one: refunds, the losses from refunds the chain
// could no longer reverse, and the wallets frozen until those losses are repaid.

export const refundOrigins = ['refund', 'ordered', 'chargeback'] as const
export type RefundOrigin = (typeof refundOrigins)[number]

/** Refunds and chargebacks, as last reported by the provider. */
export const refunds = schema.table(
  'refunds',
  {
    id: text('id').primaryKey(),
    /** Our payment id; empty for a charge that matches no payment. */
    paymentId: text('payment_id').notNull(),
    providerPaymentId: text('provider_payment_id').notNull(),
    refundedMinor: amountColumn('refunded_minor').notNull(),
    status: text('status').$type<RefundStatus>().notNull(),
    /** `ordered`: by us. `chargeback`: reversed by the payer's bank. */
    origin: text('origin', { enum: refundOrigins }).notNull().default('refund'),
    ...timestamps(),
  },
  (table) => [
    index('refunds_provider_payment').on(table.providerPaymentId),
    check('refunds_amount', sql`${table.refundedMinor} >= 0`),
    check('refunds_origin', sql`${table.origin} in ('refund', 'ordered', 'chargeback')`),
  ],
)

/**
 * Returns true if a refund of one of our payments is already recorded as succeeded. A refund of an
 * unmatched charge is received again, since a restore may have brought its payment back.
 */
export async function isRefunded(db: Db, id: string): Promise<boolean> {
  const rows = await db
    .select({ id: refunds.id })
    .from(refunds)
    .where(and(eq(refunds.id, id), eq(refunds.status, 'succeeded'), ne(refunds.paymentId, '')))
  return rows.length > 0
}

/** Finds a succeeded refund. */
export async function findRefunded(db: Db, id: string) {
  const rows = await db
    .select()
    .from(refunds)
    .where(and(eq(refunds.id, id), eq(refunds.status, 'succeeded')))
  return rows[0]
}

/** Records a refund. A succeeded one stays so, whatever a late webhook contains. */
export const recordRefund = (tx: Tx, refund: typeof refunds.$inferInsert) =>
  tx
    .insert(refunds)
    .values(refund)
    .onConflictDoUpdate({
      target: refunds.id,
      set: {
        status: sql`case when ${refunds.status} = 'succeeded' then 'succeeded' else excluded.status end`,
        paymentId: sql`coalesce(nullif(${refunds.paymentId}, ''), excluded.payment_id)`,
        updatedAt: sql`now()`,
      },
      setWhere: sql`${refunds.status} <> 'succeeded' or ${refunds.paymentId} = ''`,
    })

/** Sums the refunds of a charge, in its currency's smallest unit. */
export async function sumRefunded(tx: Tx, providerPaymentId: string): Promise<bigint> {
  const rows = await tx
    .select({ sum: sql<string>`coalesce(sum(${refunds.refundedMinor}), 0)::text` })
    .from(refunds)
    .where(and(eq(refunds.providerPaymentId, providerPaymentId), eq(refunds.status, 'succeeded')))
  return BigInt(rows[0]!.sum)
}

/** Sums the refunds of second payments of the same promise, in the currency's smallest unit. */
export async function sumRefundedBeside(
  tx: Tx,
  paymentId: string,
  providerPaymentId: string | null,
): Promise<bigint> {
  const rows = await tx
    .select({ sum: sql<string>`coalesce(sum(${refunds.refundedMinor}), 0)::text` })
    .from(refunds)
    .where(
      and(
        eq(refunds.paymentId, paymentId),
        sql`${refunds.providerPaymentId} is distinct from ${providerPaymentId}`,
        eq(refunds.status, 'succeeded'),
      ),
    )
  return BigInt(rows[0]!.sum)
}

type LossColumns = Record<'clearedAt' | 'madeGoodMicro' | 'lostMicro', SQLWrapper>
/** Condition of losses neither repaid nor waived. */
export const isMissing = ({ clearedAt, madeGoodMicro, lostMicro }: LossColumns) =>
  sql`${clearedAt} is null and ${madeGoodMicro} < ${lostMicro}`

/** Losses (10⁻⁶ AUSD): payments reversed after their hold ended. */
export const reversals = schema.table(
  'reversals',
  {
    paymentId: text('payment_id').primaryKey(),
    wallet: addressColumn('wallet').notNull(),
    lostMicro: amountColumn('lost_micro').notNull(),
    madeGoodMicro: amountColumn('made_good_micro').notNull().default(sql`0`),
    /** Time at which an operator waived the rest. */
    clearedAt: at('cleared_at'),
    ...timestamps(),
  },
  (table) => [
    index('reversals_wallet').on(table.wallet),
    index('reversals_missing').on(table.wallet).where(isMissing(table)),
    check(
      'reversals_amounts',
      sql`${table.lostMicro} > 0 and ${table.madeGoodMicro} >= 0 and ${table.madeGoodMicro} <= ${table.lostMicro}`,
    ),
  ],
)

export type Reversal = typeof reversals.$inferSelect

/** Records the loss of a payment, which only grows. Returns undefined if it has not. */
export async function storeReversal(
  tx: Tx,
  reversal: { paymentId: string; wallet: `0x${string}`; lostMicro: bigint },
): Promise<Reversal | undefined> {
  const rows = await tx
    .insert(reversals)
    .values(reversal)
    .onConflictDoUpdate({
      target: reversals.paymentId,
      set: { lostMicro: reversal.lostMicro, clearedAt: null, updatedAt: sql`now()` },
      setWhere: sql`${reversals.lostMicro} < ${reversal.lostMicro.toString()}::numeric`,
    })
    .returning()
  return rows[0]
}

/** Finds a wallet's losses neither repaid nor waived, oldest first. */
export const findMissing = (tx: Db, wallet: `0x${string}`) =>
  tx
    .select()
    .from(reversals)
    .where(and(eq(reversals.wallet, wallet), isMissing(reversals)))
    .orderBy(asc(reversals.createdAt), asc(reversals.paymentId))

/** Adds to the repaid part of one loss. */
export const addMadeGood = (tx: Tx, paymentId: string, micro: bigint) =>
  tx
    .update(reversals)
    .set({
      madeGoodMicro: sql`${reversals.madeGoodMicro} + ${micro.toString()}::numeric`,
      updatedAt: sql`now()`,
    })
    .where(eq(reversals.paymentId, paymentId))

/** Waives a wallet's outstanding losses. */
export const clearMissing = (tx: Tx, wallet: `0x${string}`) =>
  tx
    .update(reversals)
    .set({ clearedAt: sql`now()`, updatedAt: sql`now()` })
    .where(and(eq(reversals.wallet, wallet), isMissing(reversals)))
    .returning()

/** Sums all outstanding losses (10⁻⁶ AUSD). */
export async function sumMissing(db: Db): Promise<string> {
  const [missing] = await db
    .select({
      micro: sql<string>`coalesce(sum(${reversals.lostMicro} - ${reversals.madeGoodMicro}), 0)::text`,
    })
    .from(reversals)
    .where(isMissing(reversals))
  return missing!.micro
}

/** Wallets that were ever frozen, their current flag and the last order to the chain. */
export const wallets = schema.table(
  'wallets',
  {
    wallet: addressColumn('wallet').primaryKey(),
    frozen: boolean('frozen').notNull(),
    /** Revision of the latest order to the relayer; the highest applies. */
    revision: amountColumn('revision').notNull(),
    /** Time to resend the unconfirmed order; null once the chain has confirmed it. */
    orderAgainAt: at('order_again_at'),
    /** Time and reason of an operator's request to end the freeze. */
    clearRequestedAt: at('clear_requested_at'),
    clearReason: text('clear_reason'),
    ...timestamps(),
  },
  (table) => [
    index('wallets_frozen').on(table.wallet).where(sql`${table.frozen}`),
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

/** Stores the flag of a wallet under a higher revision than before. */
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

/** Confirms that the chain has this revision, so that the order is not resent. */
export const confirmFreeze = (tx: Tx, wallet: `0x${string}`, revision: bigint) =>
  tx
    .update(wallets)
    .set({ orderAgainAt: null, updatedAt: sql`now()` })
    .where(and(eq(wallets.wallet, wallet), eq(wallets.revision, revision)))

/** Condition of wallets with an overdue order or an operator's request to end the freeze. */
export const isWalletDue = (now: Date) =>
  or(lte(wallets.orderAgainAt, now), isNotNull(wallets.clearRequestedAt))!

/** Finds due wallets, longest unchanged first. */
export const findDueWallets = (db: Db, now: Date, rowsMax: number): Promise<WalletRow[]> =>
  db.select().from(wallets).where(isWalletDue(now)).orderBy(asc(wallets.updatedAt)).limit(rowsMax)

/** Plans when to resend the order of a wallet. */
export const planOrder = (tx: Tx, wallet: `0x${string}`, orderAgainAt: Date) =>
  tx.update(wallets).set({ orderAgainAt, updatedAt: sql`now()` }).where(eq(wallets.wallet, wallet))

/** Counts frozen wallets. */
export async function countFrozen(db: Db): Promise<number> {
  const [frozen] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(wallets)
    .where(sql`${wallets.frozen}`)
  return frozen!.count
}
