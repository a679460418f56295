import { and, eq, sql } from 'drizzle-orm'
import type { Tx } from '#platform/db/open'
import type { PaymentRow } from '../payment.table'
import type { Charge } from '../provider'
import { journal } from '../schema.store'
import { isMissing, refunds, reversals } from './refund.store'
import type { Report } from './report'

type ChargeFacts = {
  readonly reports: readonly Report[]
  /** True if the charge was booked as unmatched money before. */
  readonly isBooked: boolean
  /** True if the wallet still has losses to repay. */
  readonly isShort: boolean
}

type ReportJson = Omit<Report, 'refundedMinor'> & { readonly refundedMinor: string | null }

/** Reads the facts about a charge in one statement. The caller has locked the payment. */
export async function findChargeFacts(
  tx: Tx,
  { wallet }: Pick<PaymentRow, 'wallet'>,
  { paymentId }: Pick<Charge, 'paymentId'>,
): Promise<ChargeFacts> {
  const { id, origin, status, refundedMinor, objectId } = refunds
  const report = sql`json_build_object('id', ${id}, 'origin', ${origin}, 'status', ${status},
    'refundedMinor', ${refundedMinor}::text, 'objectId', ${objectId})`
  const reported = tx
    .select({ reports: sql`coalesce(json_agg(${report}), '[]')` })
    .from(refunds)
    .where(eq(refunds.providerPaymentId, paymentId))
  const booked = tx.select({ item: journal.item }).from(journal).where(eq(journal.item, paymentId))
  const missing = tx
    .select({ paymentId: reversals.paymentId })
    .from(reversals)
    .where(and(eq(reversals.wallet, wallet), isMissing(reversals)))
  const [row] = await tx.execute<{ reports: ReportJson[]; booked: boolean; missing: boolean }>(sql`
    select ${reported} reports, exists ${booked} booked, exists ${missing} missing`)
  const { reports, booked: isBooked, missing: isShort } = row!
  const exact = ({ refundedMinor: minor, ...one }: ReportJson): Report => ({
    ...one,
    refundedMinor: minor === null ? null : BigInt(minor),
  })
  return { reports: reports.map(exact), isBooked, isShort }
}
