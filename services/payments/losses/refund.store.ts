import { and, asc, eq, gt, isNotNull, isNull, lt, ne, or, type SQLWrapper, sql } from 'drizzle-orm'
import { boolean, check, index, text } from 'drizzle-orm/pg-core'
import {
  addressColumn,
  amountColumn,
  at,
  isOneOf,
  isOver,
  quotedList,
  timeFrom,
  timestamps,
} from '#platform/db/columns'
import { leaseRows } from '#platform/db/lease-rows'
import type { Db, Tx } from '#platform/db/open'
import { checkMaxMs } from '../decide'
import { isLostHold, payments } from '../payment.table'
import type { RefundStatus } from '../provider'
import { schema } from '../schema.store'
import { reportOrigins } from './report'

/** Reports about refunds, disputes and voids, each as last read from the provider. */
export const refunds = schema.table(
  'refunds',
  {
    id: text('id').primaryKey(),
    /** Our payment id; empty if the charge matches no payment. */
    paymentId: text('payment_id').notNull(),
    providerPaymentId: text('provider_payment_id').notNull(),
    /** Amount in the smallest unit; null if it is inexact or in another currency than the charge. */
    refundedMinor: amountColumn('refunded_minor'),
    status: text('status').$type<RefundStatus>().notNull(),
    origin: text('origin', { enum: reportOrigins }).notNull().default('refund'),
    objectId: text('object_id'),
    /** Time until which the provider waits for evidence about a dispute; null if it does not. */
    evidenceDueAt: at('evidence_due_at'),
    /** Time at which the refund or dispute is asked for again; null means never. */
    nextCheckAt: at('next_check_at'),
    ...timestamps(),
  },
  (table) => [
    index('refunds_provider_payment').on(table.providerPaymentId),
    index('refunds_payment').on(table.paymentId),
    // The transaction of a chargeback, which may be recorded for several payments.
    index('refunds_transaction').on(sql`split_part(id, ':', 2)`).where(sql`${table.origin} = 'chargeback'`),
    index('refunds_next_check').on(table.nextCheckAt).where(sql`${table.nextCheckAt} is not null`),
    check('refunds_amount', sql`${table.refundedMinor} >= 0`),
    check('refunds_origin', sql`${table.origin} in (${quotedList(reportOrigins)})`),
  ],
)
export type StoredReport = typeof refunds.$inferSelect

/**
 * Stores a report as now read. Only a final status brings back money that is gone: a stale "pending" undoes
 * nothing, and its amount is that of a claim. Returns undefined if the report contains nothing new.
 */
export async function recordReport(tx: Tx, report: typeof refunds.$inferInsert): Promise<StoredReport | undefined> {
  const isStale = sql`(${refunds.status} = 'succeeded' and excluded.status in ('pending', 'unknown'))`
  // guard: a refund that succeeded comes back only by a final status
  const status = sql`case when ${isStale} then 'succeeded' else excluded.status end`
  // guard: the amount of a decision is not replaced by that of the claim before it
  const refundedMinor = sql`case when ${isStale} then ${refunds.refundedMinor} else excluded.refunded_minor end`
  // A report that now names another charge belongs to the payment of that charge only.
  const isOfSame = sql`${refunds.providerPaymentId} = excluded.provider_payment_id`
  const paymentId = sql`case when ${isOfSame} and ${refunds.paymentId} <> '' then ${refunds.paymentId}
    else excluded.payment_id end`
  const objectId = sql`coalesce(excluded.object_id, ${refunds.objectId})`
  // Whose loss a refund is depends on the orders at the time it succeeds: one that was given up and failed may count as
  // ordered by us since.
  const origin = sql`case when ${refunds.status} = 'succeeded' then ${refunds.origin} else excluded.origin end`
  const rows = await tx
    .insert(refunds)
    .values(report)
    .onConflictDoUpdate({
      target: refunds.id,
      set: {
        status,
        origin,
        paymentId,
        objectId,
        providerPaymentId: sql`excluded.provider_payment_id`,
        refundedMinor,
        evidenceDueAt: sql`excluded.evidence_due_at`,
        updatedAt: sql`now()`,
      },
      setWhere: sql`(${refunds.status}, ${refunds.origin}, ${refunds.paymentId}, ${refunds.objectId}, ${refunds.refundedMinor},
          ${refunds.providerPaymentId}, ${refunds.evidenceDueAt})
        is distinct from (${status}, ${origin}, ${paymentId}, ${objectId}, ${refundedMinor},
          excluded.provider_payment_id, excluded.evidence_due_at)`,
    })
    .returning()
  return rows[0]
}

/** Plans when the refund or dispute of a report is asked for again; null means never. */
export const planLook = (tx: Tx, id: string, nextCheckAt: Date | null) =>
  tx.update(refunds).set({ nextCheckAt }).where(eq(refunds.id, id))

/** Plans a look after one that did not find it, unless the report has changed since: then news has planned or ended its looks. */
export const planLookAfterMiss = (tx: Tx, { id, updatedAt }: StoredReport, nextCheckAt: Date | null) =>
  tx
    .update(refunds)
    .set({ nextCheckAt })
    .where(and(eq(refunds.id, id), eq(refunds.updatedAt, updatedAt)))

/** Plans a look after news, unless an earlier one is planned: otherwise, repeated news would put the look off for ever. */
export const planLookBy = (tx: Tx, id: string, at: Date) =>
  tx
    .update(refunds)
    .set({ nextCheckAt: at })
    .where(and(eq(refunds.id, id), or(isNull(refunds.nextCheckAt), gt(refunds.nextCheckAt, at))))

export const isLookDue = (now: Date) => isOver(refunds.nextCheckAt, checkMaxMs, timeFrom(now))

/** Leases the reports whose refunds and disputes are due, until `retryAt`, the longest due first. */
export async function leaseLooks(
  db: Db,
  now: Date,
  { retryAt, rowsMax }: { readonly retryAt: Date; readonly rowsMax: number },
): Promise<StoredReport[]> {
  return leaseRows(db, refunds, {
    id: refunds.id,
    isDue: isLookDue(now),
    order: [refunds.nextCheckAt, refunds.id],
    rowsMax,
    set: { nextCheckAt: retryAt },
  })
}

/** Ends the report that a charge is void. Returns it as it was, or undefined if there is none. */
export async function endVoid(tx: Tx, id: string): Promise<StoredReport | undefined> {
  const isLive = and(eq(refunds.id, id), ne(refunds.status, 'dead'))
  const [before] = await tx.select().from(refunds).where(isLive)
  if (before) await tx.update(refunds).set({ status: 'dead', nextCheckAt: null, updatedAt: sql`now()` }).where(isLive)
  return before
}

export const findReports = (db: Db, providerPaymentId: string): Promise<StoredReport[]> =>
  db.select().from(refunds).where(eq(refunds.providerPaymentId, providerPaymentId))

export const findReportsById = (db: Db, ids: readonly string[]): Promise<StoredReport[]> =>
  db.select().from(refunds).where(isOneOf(refunds.id, ids))

export const findOtherReports = (db: Db, paymentId: string, providerPaymentId: string): Promise<StoredReport[]> =>
  db
    .select()
    .from(refunds)
    .where(and(eq(refunds.paymentId, paymentId), ne(refunds.providerPaymentId, providerPaymentId)))

type LossColumns = Record<'clearedAt' | 'madeGoodMicro' | 'lostMicro', SQLWrapper>
export const isMissing = ({ clearedAt, madeGoodMicro, lostMicro }: LossColumns) =>
  sql`${clearedAt} is null and ${madeGoodMicro} < ${lostMicro}`

/** Losses, in 10⁻⁶ AUSD, from payments that were reversed after their hold ended. */
export const reversals = schema.table(
  'reversals',
  {
    paymentId: text('payment_id').primaryKey(),
    wallet: addressColumn('wallet').notNull(),
    lostMicro: amountColumn('lost_micro').notNull(),
    /** Amount repaid by top-ups; it exceeds the loss if part of the loss was undone later. */
    madeGoodMicro: amountColumn('made_good_micro').notNull().default(sql`0`),
    /** Amount that was repaid needlessly and that an operator gave back. */
    givenBackMicro: amountColumn('given_back_micro').notNull().default(sql`0`),
    /** Time at which the rest was waived: by an operator, or at once because the loss is ours. */
    clearedAt: at('cleared_at'),
    ...timestamps(),
  },
  (table) => [
    index('reversals_wallet').on(table.wallet),
    index('reversals_missing').on(table.wallet).where(isMissing(table)),
    check(
      'reversals_amounts',
      sql`${table.lostMicro} >= 0 and ${table.madeGoodMicro} >= 0 and ${table.givenBackMicro} >= 0`,
    ),
  ],
)

export type Reversal = typeof reversals.$inferSelect

export async function findReversal(db: Db, paymentId: string): Promise<Reversal | undefined> {
  return (await db.select().from(reversals).where(eq(reversals.paymentId, paymentId)))[0]
}

/**
 * Stores a reversal. A larger loss than before is due again, even if an operator waived the smaller one. One that is ours is
 * waived at once.
 */
export async function storeReversal(
  tx: Tx,
  { isOurs, ...reversal }: { paymentId: string; wallet: `0x${string}`; lostMicro: bigint; isOurs: boolean },
): Promise<Reversal> {
  const kept = sql`case when excluded.lost_micro > ${reversals.lostMicro} then null else ${reversals.clearedAt} end`
  const cleared = isOurs ? sql`now()` : kept
  const rows = await tx
    .insert(reversals)
    .values({ ...reversal, ...(isOurs ? { clearedAt: cleared } : {}) })
    .onConflictDoUpdate({
      target: reversals.paymentId,
      set: {
        lostMicro: sql`excluded.lost_micro`,
        clearedAt: cleared,
        updatedAt: sql`now()`,
      },
    })
    .returning()
  return rows[0]!
}

/** Finds the losses of a wallet that are neither repaid nor waived, oldest first. */
export const findMissing = (tx: Db, wallet: `0x${string}`) =>
  tx
    .select()
    .from(reversals)
    .where(and(eq(reversals.wallet, wallet), isMissing(reversals)))
    .orderBy(asc(reversals.createdAt), asc(reversals.paymentId))

/** Finds the losses of a wallet that it repaid beyond their present amount, oldest first. */
export const findNeedless = (tx: Db, wallet: `0x${string}`) =>
  tx
    .select()
    .from(reversals)
    .where(and(eq(reversals.wallet, wallet), gt(reversals.madeGoodMicro, reversals.lostMicro)))
    .orderBy(asc(reversals.createdAt), asc(reversals.paymentId))

/** Adds to what was repaid of a loss (10⁻⁶ AUSD); a negative amount is taken from it. */
export const addMadeGood = (tx: Tx, paymentId: string, micro: bigint) =>
  tx
    .update(reversals)
    .set({
      madeGoodMicro: sql`${reversals.madeGoodMicro} + ${micro.toString()}::numeric`,
      updatedAt: sql`now()`,
    })
    .where(eq(reversals.paymentId, paymentId))

export async function moveGivenBack(tx: Tx, paymentId: string): Promise<Reversal> {
  const { madeGoodMicro, lostMicro, givenBackMicro } = reversals
  const rows = await tx
    .update(reversals)
    .set({
      // guard: what was given back of a repaid loss is missing again if the loss comes about
      madeGoodMicro: sql`${lostMicro}`,
      givenBackMicro: sql`${givenBackMicro} + ${madeGoodMicro} - ${lostMicro}`,
      updatedAt: sql`now()`,
    })
    .where(eq(reversals.paymentId, paymentId))
    .returning()
  return rows[0]!
}

export const clearMissing = (tx: Tx, wallet: `0x${string}`) =>
  tx
    .update(reversals)
    .set({ clearedAt: sql`now()`, updatedAt: sql`now()` })
    .where(and(eq(reversals.wallet, wallet), isMissing(reversals)))
    .returning()

/** Sums what is missing of all losses that are neither repaid nor waived (10⁻⁶ AUSD). */
export async function sumMissing(db: Db): Promise<string> {
  const [missing] = await db
    .select({
      micro: sql<string>`coalesce(sum(${reversals.lostMicro} - ${reversals.madeGoodMicro}), 0)::text`,
    })
    .from(reversals)
    .where(isMissing(reversals))
  return missing!.micro
}

export async function hasLostHold(db: Db, wallet: `0x${string}`): Promise<boolean> {
  const rows = await db
    .select({ id: payments.id })
    .from(payments)
    .where(and(eq(payments.wallet, wallet), isLostHold(payments)))
    .limit(1)
  return rows.length > 0
}

export const clearLostHolds = (tx: Tx, wallet: `0x${string}`) =>
  tx
    .update(payments)
    .set({ lostHold: 'cleared' })
    .where(and(eq(payments.wallet, wallet), isLostHold(payments)))
    .returning({ paymentId: payments.id })

/** Makes the waived losses of these payments due again. Returns those of which something is missing. */
export const reclaimMissing = (tx: Tx, paymentIds: readonly string[]) =>
  tx
    .update(reversals)
    .set({ clearedAt: null, updatedAt: sql`now()` })
    .where(
      and(
        isOneOf(reversals.paymentId, paymentIds),
        isNotNull(reversals.clearedAt),
        lt(reversals.madeGoodMicro, reversals.lostMicro),
      ),
    )
    .returning()

/** Freezes for the cleared doubts about these payments again. A doubt that is over is not marked as cleared any more. */
export const reclaimLostHolds = (tx: Tx, paymentIds: readonly string[]) =>
  tx
    .update(payments)
    .set({ lostHold: 'frozen' })
    .where(and(isOneOf(payments.id, paymentIds), eq(payments.lostHold, 'cleared')))
    .returning({ paymentId: payments.id })

/** Wallets that were ever frozen. */
export const wallets = schema.table(
  'wallets',
  {
    wallet: addressColumn('wallet').primaryKey(),
    frozen: boolean('frozen').notNull(),
    /** An operator froze the wallet, whatever it owes. Only an operator ends that. */
    frozenByOperator: boolean('frozen_by_operator').notNull().default(false),
    /** Revision of the latest freeze order to the relayer; the highest revision applies. */
    revision: amountColumn('revision').notNull(),
    /** Time at which the unconfirmed order is resent; null once the chain has confirmed it. */
    retryAt: at('retry_at'),
    /** Payments whose loss or doubt the latest clearing ended, and the revision of its order; null before the first. */
    clearedPayments: text('cleared_payments').array().notNull().default(sql`'{}'`),
    clearedRevision: amountColumn('cleared_revision'),
    ...timestamps(),
  },
  (table) => [
    index('wallets_frozen').on(table.wallet).where(sql`${table.frozen}`),
    index('wallets_due').on(table.retryAt).where(sql`${table.retryAt} is not null`),
  ],
)
export type WalletRow = typeof wallets.$inferSelect

export async function findWallet(db: Db, wallet: `0x${string}`): Promise<WalletRow | undefined> {
  const rows = await db.select().from(wallets).where(eq(wallets.wallet, wallet))
  return rows[0]
}

export async function storeFreeze(
  tx: Tx,
  change: {
    wallet: `0x${string}`
    frozen: boolean
    /** Unchanged if it is undefined. */
    frozenByOperator?: boolean | undefined
    nowMs: number
    retryAt: Date
  },
): Promise<WalletRow> {
  const { wallet, frozen, frozenByOperator, nowMs, retryAt } = change
  const set = { frozen, frozenByOperator, retryAt, updatedAt: sql`now()` }
  const rows = await tx
    .insert(wallets)
    .values({ wallet, frozen, frozenByOperator, revision: BigInt(nowMs), retryAt })
    .onConflictDoUpdate({
      target: wallets.wallet,
      set: { ...set, revision: sql`greatest(${wallets.revision} + 1, ${String(nowMs)}::numeric)` },
    })
    .returning()
  return rows[0]!
}

/** Records which payments the clearing covers whose order was just stored. */
export const recordCleared = (tx: Tx, wallet: `0x${string}`, clearedPayments: string[]) =>
  tx
    .update(wallets)
    .set({ clearedPayments, clearedRevision: sql`${wallets.revision}` })
    .where(eq(wallets.wallet, wallet))

export const confirmFreeze = (tx: Tx, wallet: `0x${string}`, revision: bigint) =>
  tx
    .update(wallets)
    .set({ retryAt: null, updatedAt: sql`now()` })
    .where(and(eq(wallets.wallet, wallet), eq(wallets.revision, revision)))

export const isWalletDue = (now: Date) => isOver(wallets.retryAt, checkMaxMs, timeFrom(now))

/** Finds wallets with an unconfirmed order that is due, longest unchanged first. */
export const findDueWallets = (db: Db, now: Date, rowsMax: number): Promise<WalletRow[]> =>
  db.select().from(wallets).where(isWalletDue(now)).orderBy(asc(wallets.updatedAt)).limit(rowsMax)

export const planOrder = (tx: Tx, wallet: `0x${string}`, retryAt: Date) =>
  tx.update(wallets).set({ retryAt, updatedAt: sql`now()` }).where(eq(wallets.wallet, wallet))

export async function countFrozen(db: Db): Promise<number> {
  const [frozen] = await db.select({ count: sql<number>`count(*)::int` }).from(wallets).where(sql`${wallets.frozen}`)
  return frozen!.count
}
