import type { Tx } from '#platform/db/open'
import { refusesId } from '#shared/provider/problem'
import type { Context } from '../context'
import { disputeReport, isEvidenceNews } from '../losses/dispute'
import { findOtherReports, findReports, findReportsById, leaseDisputes } from '../losses/refund.store'
import { isDispute } from '../losses/report'
import { paymentIdIn } from '../payment'
import { findPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import type { FetchedCharge, FetchedDispute } from '../provider'
import { findRefunded } from '../providers/look-up'
import { recordAnomaly } from '../schema.store'
import { fetchChargeOf, type PricedCharge, receiveRefund, withRate } from './receive'

// A dispute is told by webhooks, and once more by each later one of it. An open one is also asked for from time to time,
// because it binds the money until it is decided.

/** Interval at which an open dispute is asked for, in ms. */
const recheckMs = 3_600_000
const checksMax = 5

/**
 * Finds the charge of a dispute by any id of it, or else by our reference. Of several charges of one payment, the one
 * counts to which a row of the list that names the dispute has led.
 */
export async function findDisputed(
  context: Context,
  account: PaymentRow['account'],
  { disputeId, paymentId, reference }: FetchedDispute,
): Promise<FetchedCharge | undefined> {
  const named = await findRefunded(context.provider, account, { paymentId, paymentRequestId: null })
  if (named) return named
  const id = paymentIdIn(reference)
  const payment = id ? await context.database.read((db) => findPayment(db, id)) : undefined
  const own = payment?.account === account ? payment : undefined
  const listed = own && (await findListedCharge(context, own, disputeId))
  return listed ? context.provider.findCharge(account, listed) : fetchChargeOf(context, own)
}

/** Returns the second charge of a payment against which the row of a dispute was received. */
async function findListedCharge(
  { database }: Context,
  { id, providerPaymentId, overpaidMinor }: PaymentRow,
  disputeId: string,
): Promise<string | undefined> {
  if (providerPaymentId === null || overpaidMinor === 0n) return undefined
  const others = await database.read((db) => findOtherReports(db, id, providerPaymentId))
  return others.find(({ objectId }) => objectId === disputeId)?.providerPaymentId
}

/** Receives a dispute as a report on its charge, and alerts an operator of each date until which evidence is due. */
export async function receiveDispute(
  tx: Tx,
  context: Context,
  dispute: FetchedDispute,
  fetched: PricedCharge,
): Promise<void> {
  const { disputeId: id, paymentId, reference, currency } = dispute
  const report = { ...disputeReport(dispute), origin: 'chargeback', currency } as const
  const isOpen = report.status === 'pending' || report.status === 'unknown'
  const nextCheckAt = isOpen ? new Date(context.clock() + recheckMs) : null
  const [before] = await findReportsById(tx, [id])
  const received = { ...report, refundId: id, paymentId, paymentRequestId: null, reference, nextCheckAt }
  await receiveRefund(tx, context, received, fetched)
  const [after] = await findReportsById(tx, [id])
  const about = { account: fetched.charge.account, object: id, paymentId: after?.paymentId || undefined }
  const { refundedMinor: amountMinor } = report
  if (report.status === 'dead') await recordAnomaly(tx, { kind: 'dispute_won', ...about, currency, amountMinor })
  if (isEvidenceNews(dispute, before)) alertOfEvidence(context, dispute, about.paymentId)
}

/** Alerts that the provider waits for evidence. It sends no reminder of its own. */
export function alertOfEvidence({ log }: Context, { disputeId, dueAt }: FetchedDispute, paymentId?: string): void {
  const fields = { disputeId, paymentId, evidenceDueAt: dueAt, alarm: true }
  log.error(fields, 'dispute is lost unless it is answered in time')
}

/**
 * Fetches the known disputes of a charge again, because a chargeback in the list may be news of them. A dispute that names
 * no payment is one of the charge to which its row leads, even if our reference led to another.
 */
export async function fetchDisputes(
  { provider, database }: Context,
  account: PaymentRow['account'],
  providerPaymentId: string,
  named: string | null,
): Promise<FetchedDispute[]> {
  const known = await database.read(async (db) => [
    ...(await findReports(db, providerPaymentId)),
    ...(named === null ? [] : await findReportsById(db, [named])),
  ])
  const disputes: FetchedDispute[] = []
  for (const [id, report] of new Map(known.filter(isDispute).map((one) => [one.id, one]))) {
    const dispute = await provider.findDispute(account, id)
    const isIts = report.providerPaymentId === providerPaymentId || dispute?.paymentId === null
    if (dispute && isIts) disputes.push(dispute)
  }
  return disputes
}

/** Asks for open disputes that are due. Returns true if any was. */
export async function recheckDisputes(context: Context): Promise<boolean> {
  const { database, provider, clock, log } = context
  const now = new Date(clock())
  const retryAt = new Date(clock() + recheckMs)
  const due = await database.transaction((tx) => leaseDisputes(tx, now, { retryAt, rowsMax: checksMax }))
  for (const { id, paymentId } of due)
    try {
      const payment = await database.read((db) => findPayment(db, paymentId))
      const dispute = payment && (await provider.findDispute(payment.account, id))
      const charge = dispute && (await findDisputed(context, payment.account, dispute))
      const fetched = await withRate(context, charge)
      if (dispute && fetched) await database.transaction((tx) => receiveDispute(tx, context, dispute, fetched))
    } catch (err) {
      log.warn({ disputeId: id, err, isRefused: refusesId(err) }, 'dispute lookup failed')
    }
  return due.length > 0
}
