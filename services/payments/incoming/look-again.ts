import { noneOfItsForm, refusesId } from '#shared/provider/problem'
import type { Context } from '../context'
import { leaseLooks, planLookAfterMiss, type StoredReport } from '../losses/refund.store'
import { lookAfterMissMs, subjectOf } from '../losses/report'
import { findPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import { findRefunded, isAnother } from '../providers/look-up'
import { askForDispute, disputeIn } from './dispute'
import { receiveRefund, withRate } from './receive'

// A refund or dispute is told by webhooks and the list, and then read. It is asked for again by ourselves: an open one, or
// one that a webhook named and that was not found, from time to time, because it binds the money until it is decided; and a
// decided one once more, because the answer may have been one from before the decision, and nobody tells of it again. While it
// is not found then, we keep asking for a day.

const looksMax = 5
/** Time after which a look that failed is repeated, in ms. */
const retryMs = 120_000

/** Asks for the refunds and disputes that are due. Returns true if any was. */
export async function lookAgain(context: Context): Promise<boolean> {
  const { database, clock, log } = context
  const [now, retryAt] = [new Date(clock()), new Date(clock() + retryMs)]
  const due = await database.run((db) => leaseLooks(db, now, { retryAt, rowsMax: looksMax }))
  for (const report of due) {
    await look(context, report).catch((err) =>
      log.warn({ refundId: report.id, err, isRefused: refusesId(err) }, 'refund or dispute lookup failed'),
    )
  }
  return due.length > 0
}

async function look(context: Context, report: StoredReport): Promise<void> {
  const { database } = context
  const payment = await database.read((db) => findPayment(db, report.paymentId))
  const [[disputeId] = []] = disputeIn(report)
  const ask = (account: PaymentRow['account']) =>
    disputeId ? askForDispute(context, account, disputeId) : askForRefund(context, account, report)
  const isFound = payment !== undefined && (await ask(payment.account))
  if (isFound) return
  const now = context.clock()
  // guard: a decided refund or dispute that a look does not find is asked for again
  const afterMs = lookAfterMissMs(report, now - report.updatedAt.getTime())
  const nextCheckAt = afterMs === null ? null : new Date(now + afterMs)
  await database.transaction((tx) => planLookAfterMiss(tx, report, nextCheckAt))
}

async function askForRefund(context: Context, account: PaymentRow['account'], report: StoredReport): Promise<boolean> {
  const { provider, database } = context
  const refund = await provider.findRefund(account, subjectOf(report)).catch(noneOfItsForm)
  if (!refund) return false
  const named = await findRefunded(provider, account, refund)
  const charge = named ?? (await provider.findCharge(account, report.providerPaymentId))
  const fetched = await withRate(context, charge)
  if (!fetched) return false
  // guard: a refund of a payment that is not found yet does not count against another payment
  if (!named && report.origin === 'void' && isAnother(refund.paymentId, fetched)) return false
  await database.transaction((tx) => receiveRefund(tx, context, { ...refund, isLook: true }, fetched))
  return true
}
