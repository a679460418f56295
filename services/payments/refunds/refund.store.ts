import { and, asc, eq, isNotNull, lte, ne, or, type SQLWrapper, sql } from 'drizzle-orm'
import { boolean, check, index, text } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, timestamps } from '#shared/db/columns'
import type { Db, Tx } from '#shared/db/open'
import type { RefundStatus } from '../provider'
import { schema } from '../schema.store'

// Three tables, each the consequence of the one before: money that went back, what we lost by it
// because the chain could not take it back, and the wallets that are frozen until it is made good.

export const refundOrigins = ['refund', 'ordered', 'chargeback'] as const
export type RefundOrigin = (typeof refundOrigins)[number]

/** Money that went back to a payer, as the provider last told it. */
export const refunds = schema.table(
  'refunds',
  {
    id: text('id').primaryKey(),
    /** Ours; empty: of a payment at the provider that belongs to none of ours. */
    paymentId: text('payment_id').notNull(),
    providerPaymentId: text('provider_payment_id').notNull(),
    refundedMinor: amountColumn('refunded_minor').notNull(),
    status: text('status').$type<RefundStatus>().notNull(),
    /** `ordered`: by us. `chargeback`: the payer's bank took it back. */
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
 * True when we recorded this refund of a payment of ours as succeeded: there is nothing new in it. One
 * of money of nobody is received again: a restore may have put its payment back.
 */
export async function isRefunded(db: Db, id: string): Promise<boolean> {
  const rows = await db
    .select({ id: refunds.id })
    .from(refunds)
    .where(and(eq(refunds.id, id), eq(refunds.status, 'succeeded'), ne(refunds.paymentId, '')))
  return rows.length > 0
}

/** A refund that succeeded. */
export async function findRefunded(db: Db, id: string) {
  const rows = await db
    .select()
    .from(refunds)
    .where(and(eq(refunds.id, id), eq(refunds.status, 'succeeded')))
  return rows[0]
}

/** Records a refund; one that succeeded stays so, whatever an older delivery says. */
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

/** How much of a provider's payment was given back, in its currency's smallest unit. */
export async function sumRefunded(tx: Tx, providerPaymentId: string): Promise<bigint> {
  const rows = await tx
    .select({ sum: sql<string>`coalesce(sum(${refunds.refundedMinor}), 0)::text` })
    .from(refunds)
    .where(and(eq(refunds.providerPaymentId, providerPaymentId), eq(refunds.status, 'succeeded')))
  return BigInt(rows[0]!.sum)
}

/** How much of other payments for the same promise was given back, in the currency's smallest unit. */
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
/** Nobody made it good or gave it up. */
export const isMissing = ({ clearedAt, madeGoodMicro, lostMicro }: LossColumns) =>
  sql`${clearedAt} is null and ${madeGoodMicro} < ${lostMicro}`

/** AUSD (10⁻⁶) a wallet was given for a payment that was taken back after its hold. */
export const reversals = schema.table(
  'reversals',
  {
    paymentId: text('payment_id').primaryKey(),
    wallet: addressColumn('wallet').notNull(),
    lostMicro: amountColumn('lost_micro').notNull(),
    madeGoodMicro: amountColumn('made_good_micro').notNull().default(sql`0`),
    /** An operator gave the rest up. */
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

/** Records what is lost by a payment; it only ever grows. Undefined when nothing is new. */
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

/** What nobody has made good or given up, oldest first. */
export const findMissing = (tx: Db, wallet: `0x${string}`) =>
  tx
    .select()
    .from(reversals)
    .where(and(eq(reversals.wallet, wallet), isMissing(reversals)))
    .orderBy(asc(reversals.createdAt), asc(reversals.paymentId))

/** Counts what was made good of one reversal. */
export const addMadeGood = (tx: Tx, paymentId: string, micro: bigint) =>
  tx
    .update(reversals)
    .set({
      madeGoodMicro: sql`${reversals.madeGoodMicro} + ${micro.toString()}::numeric`,
      updatedAt: sql`now()`,
    })
    .where(eq(reversals.paymentId, paymentId))

/** Gives up what is missing of a wallet. */
export const clearMissing = (tx: Tx, wallet: `0x${string}`) =>
  tx
    .update(reversals)
    .set({ clearedAt: sql`now()`, updatedAt: sql`now()` })
    .where(and(eq(reversals.wallet, wallet), isMissing(reversals)))
    .returning()

/** What is missing in all (10⁻⁶ AUSD). */
export async function sumMissing(db: Db): Promise<string> {
  const [missing] = await db
    .select({
      micro: sql<string>`coalesce(sum(${reversals.lostMicro} - ${reversals.madeGoodMicro}), 0)::text`,
    })
    .from(reversals)
    .where(isMissing(reversals))
  return missing!.micro
}

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
export const isWalletDue = (now: Date) =>
  or(lte(wallets.orderAgainAt, now), isNotNull(wallets.clearRequestedAt))!

/** The same, those that wait for longest first. */
export const findDueWallets = (db: Db, now: Date, rowsMax: number): Promise<WalletRow[]> =>
  db.select().from(wallets).where(isWalletDue(now)).orderBy(asc(wallets.updatedAt)).limit(rowsMax)

/** Plans when the order of a wallet is sent again. */
export const planOrder = (tx: Tx, wallet: `0x${string}`, orderAgainAt: Date) =>
  tx.update(wallets).set({ orderAgainAt, updatedAt: sql`now()` }).where(eq(wallets.wallet, wallet))

/** How many wallets are frozen. */
export async function countFrozen(db: Db): Promise<number> {
  const [frozen] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(wallets)
    .where(sql`${wallets.frozen}`)
  return frozen!.count
}
