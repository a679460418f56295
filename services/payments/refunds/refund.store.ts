import { and, eq, sql } from 'drizzle-orm'
import { check, index, text } from 'drizzle-orm/pg-core'
import { amountColumn, timestamps } from '#shared/db/columns'
import type { Db, Tx } from '#shared/db/open'
import type { RefundStatus } from '../provider'
import { schema } from '../schema.store'

export const refundOrigins = ['refund', 'ordered', 'chargeback'] as const
export type RefundOrigin = (typeof refundOrigins)[number]

/** Money that went back to a payer, as the provider last told it. */
export const refunds = schema.table(
  'refunds',
  {
    id: text('id').primaryKey(),
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

/** True when we recorded this refund as succeeded: there is nothing new in it. */
export async function isRefunded(db: Db, id: string): Promise<boolean> {
  const rows = await db
    .select({ id: refunds.id })
    .from(refunds)
    .where(and(eq(refunds.id, id), eq(refunds.status, 'succeeded')))
  return rows.length > 0
}

/** Records a refund; one that succeeded stays so, whatever an older delivery says. */
export const recordRefund = (tx: Tx, refund: typeof refunds.$inferInsert) =>
  tx
    .insert(refunds)
    .values(refund)
    .onConflictDoUpdate({
      target: refunds.id,
      set: { status: refund.status, updatedAt: sql`now()` },
      setWhere: sql`${refunds.status} <> 'succeeded'`,
    })

/** How much of a provider's payment was given back, in its currency's smallest unit. */
export async function sumRefunded(tx: Tx, providerPaymentId: string): Promise<bigint> {
  const rows = await tx
    .select({ sum: sql<string>`coalesce(sum(${refunds.refundedMinor}), 0)::text` })
    .from(refunds)
    .where(and(eq(refunds.providerPaymentId, providerPaymentId), eq(refunds.status, 'succeeded')))
  return BigInt(rows[0]!.sum)
}
