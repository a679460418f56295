import { and, eq, sql } from 'drizzle-orm'
import type { Tx } from '#shared/db/open'
import type { PaymentRow } from '../payment.store'
import type { Charge } from '../provider'
import { journal } from '../schema.store'
import { isMissing, refunds, reversals } from './refund.store'

/** Facts about a charge from other tables than the payment's own. */
export type Beside = {
  /** Refunded part of the charge, in its currency's smallest unit. */
  readonly refundedMinor: bigint
  /** True if the charge was booked as unmatched money before. */
  readonly isBooked: boolean
  /** True if the wallet still has losses to repay. */
  readonly isShort: boolean
}

/** Reads these facts in one statement. The payment is locked. */
export async function findBeside(
  tx: Tx,
  { wallet }: Pick<PaymentRow, 'wallet'>,
  { paymentId }: Pick<Charge, 'paymentId'>,
): Promise<Beside> {
  const refunded = tx
    .select({ sum: sql`coalesce(sum(${refunds.refundedMinor}), 0)::text` })
    .from(refunds)
    .where(and(eq(refunds.providerPaymentId, paymentId), eq(refunds.status, 'succeeded')))
  const booked = tx.select({ item: journal.item }).from(journal).where(eq(journal.item, paymentId))
  const missing = tx
    .select({ paymentId: reversals.paymentId })
    .from(reversals)
    .where(and(eq(reversals.wallet, wallet), isMissing(reversals)))
  const [row] = await tx.execute<{ refunded: string; booked: boolean; missing: boolean }>(sql`
    select ${refunded} refunded, exists ${booked} booked, exists ${missing} missing`)
  const { refunded: minor, booked: isBooked, missing: isShort } = row!
  return { refundedMinor: BigInt(minor), isBooked, isShort }
}
