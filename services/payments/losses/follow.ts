import type { Tx } from '#platform/db/open'
import { raiseAlert } from '../alert'
import type { Context } from '../context'
import { decideOverpaid, decideRefunded, waiverOf } from '../decide'
import { bookChange } from '../ledger/book'
import { takeDecided } from '../onchain/advance'
import { needsHold } from '../payment'
import { findByProviderIds, lockPayment, recordPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import { findSeconds } from '../review/resolution.store'
import { anomalyId, findAnomaly } from '../schema.store'
import { endVoid, findOtherReports, findReports, recordReport, type StoredReport } from './refund.store'
import { backOf, type ReportOrigin } from './report'
import { recordReversal, shrinkReversal } from './reversal'

/**
 * Records that a charge we counted, or its row in the list, no longer reads as succeeded. `succeeded` means
 * that the charge is voided, so all of its money is gone; `unknown` means that the money may be gone.
 */
export async function receiveDoubt(
  tx: Tx,
  context: Context,
  providerPaymentId: string,
  doubt: { account: PaymentRow['account']; id: string; status: 'succeeded' | 'unknown' },
): Promise<void> {
  const { account, id, status } = doubt
  const counted = await findCounted(tx, account, providerPaymentId)
  if (!counted || !(await lockPayment(tx, counted.paymentId))) return
  const { paymentId, paidMinor: refundedMinor } = counted
  const report = {
    id,
    paymentId,
    providerPaymentId,
    refundedMinor,
    status,
    origin: 'void',
  } as const
  const news = await recordReport(tx, report)
  if (!news) return
  const about = { account, object: providerPaymentId, paymentId }
  if (news.status === 'unknown') await raiseAlert(tx, context, 'charge_doubtful', about)
  await followReports(tx, context, paymentId, 'void')
}

async function findCounted(tx: Tx, account: PaymentRow['account'], providerPaymentId: string) {
  const ids = { account, paymentId: providerPaymentId, paymentRequestId: null }
  const own = await findByProviderIds(tx, ids)
  if (own) return { paymentId: own.id, paidMinor: own.paidMinor ?? own.fiatMinor }
  const second = await findAnomaly(tx, anomalyId('paid_twice', account, providerPaymentId))
  return second?.paymentId ? { paymentId: second.paymentId, paidMinor: second.amountMinor } : undefined
}

/** Records that a charge or its row is no longer in doubt. `id` is that of the report. */
export async function endDoubt(tx: Tx, context: Context, id: string): Promise<void> {
  const ended = await endVoid(tx, id)
  if (ended) await followReports(tx, context, ended.paymentId, 'void')
}

/** Updates the row of a payment and the freeze of its wallet from all reports about its charges. */
export async function followReports(tx: Tx, context: Context, id: string, origin?: ReportOrigin): Promise<void> {
  const before = await lockPayment(tx, id)
  // Nothing is decided for a payment without a charge: its reports are counted once the charge is received.
  if (!before || before.providerPaymentId === null) return
  // Both charges are counted, because the report may have named the other charge before.
  await followOwn(tx, context, await countOther(tx, context, before), origin)
}

async function followOwn(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  origin: ReportOrigin | undefined,
): Promise<void> {
  const { id } = payment
  const reports = await findReports(tx, payment.providerPaymentId!)
  const { goneMinor: refundedMinor, isOpen } = backOf(reports, payment.paidMinor ?? payment.fiatMinor)
  // A clean refund check covers only the reports that existed at the time.
  if (isOpen && payment.refundsCheckedAt && needsHold(payment))
    await recordPayment(tx, id, { refundsCheckedAt: null, nextCheckAt: new Date(context.clock()) })
  if (refundedMinor === payment.refundedMinor) return
  const waived = origin === 'ordered' ? waiverOf(payment, refundedMinor) : {}
  const set = { refundedMinor, ...waived }
  await recordPayment(tx, id, set)
  const fields = { paymentId: id, state: payment.state, origin, refundedMinor: `${refundedMinor}` }
  context.log.info(fields, 'refunded amount changed')
  const after = { ...payment, ...set }
  await bookChange(tx, payment, after, 'refund counted')
  if (refundedMinor < payment.refundedMinor) {
    const alarm = { ...fields, alarm: true }
    context.log.error(alarm, 'refund or dispute undone, money is ours again')
    await shrinkReversal(tx, context, after)
  }
  const moved = await takeDecided(tx, context, after, decideRefunded(after), set)
  // A payment already in review may have lost more than before.
  if (!moved) await recordReversal(tx, context, after)
}

/** Counts the refunds of second payments, which were never credited, and returns the updated row. */
export async function countOther(tx: Tx, context: Context, payment: PaymentRow): Promise<PaymentRow> {
  const { id, providerPaymentId } = payment
  if (providerPaymentId === null || payment.overpaidMinor === 0n) return payment
  const seconds = new Map<string, StoredReport[]>()
  for (const report of await findOtherReports(tx, id, providerPaymentId))
    seconds.set(report.providerPaymentId, [...(seconds.get(report.providerPaymentId) ?? []), report])
  let overpaidRefundedMinor = 0n
  // A second payment of an inexact amount or in another currency is not counted, so its refunds are not
  // counted either.
  for (const { providerPaymentId: second, currency, minor } of await findSeconds(tx, id))
    if (minor !== null && currency === payment.currency)
      overpaidRefundedMinor += backOf(seconds.get(second) ?? [], minor).goneMinor
  if (overpaidRefundedMinor === payment.overpaidRefundedMinor) return payment
  await recordPayment(tx, id, { overpaidRefundedMinor })
  const after = { ...payment, overpaidRefundedMinor }
  await bookChange(tx, payment, after, 'second payment refunded')
  await shrinkReversal(tx, context, after)
  await recordReversal(tx, context, after)
  if (overpaidRefundedMinor > payment.overpaidRefundedMinor) return after
  context.log.error({ paymentId: id, alarm: true }, 'refund of a second payment undone, it is owed')
  return (await takeDecided(tx, context, after, decideOverpaid(after))) ?? after
}
