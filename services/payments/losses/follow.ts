import type { Tx } from '#platform/db/open'
import { raiseAlert } from '../alert'
import type { Context } from '../context'
import { decideOverpaid, decideRefunded, hasSecondLeft, lostMicro, needlessWaiverOf, waiverOf } from '../decide'
import { bookChange } from '../ledger/book'
import { leaveSecond, takeDecided } from '../onchain/advance'
import { beyondCeil, mayBeOnHold } from '../payment'
import { findByProviderIds, lockPayment, recordPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import { findSeconds } from '../review/resolution.store'
import { anomalyId, findAnomaly } from '../schema.store'
import { type Reported, stanceOf } from '../stance'
import {
  endVoid,
  findOtherReports,
  findReports,
  findReportsById,
  recordReport,
  type StoredReport,
} from './refund.store'
import { backOf, isOpen, type ReportOrigin, splitBack } from './report'
import { followRestart, followStance, freezeInDoubt, recordReversal, shrinkReversal } from './reversal'

/**
 * Records that a charge we counted, or its row in the list, no longer reads as succeeded, or that a refund or dispute of
 * it cannot be fetched. `succeeded` means that the charge is voided, so all of its money is gone; `unknown` means that
 * the money may be gone. Returns true if the charge is one that we counted.
 */
export async function receiveDoubt(
  tx: Tx,
  context: Context,
  providerPaymentId: string,
  doubt: { account: PaymentRow['account']; id: string; status: 'succeeded' | 'unknown' } & Partial<
    Pick<StoredReport, 'objectId' | 'evidenceDueAt'>
  >,
): Promise<boolean> {
  const { account, id, ...said } = doubt
  const counted = await findCounted(tx, account, providerPaymentId)
  if (!counted || !(await lockPayment(tx, counted.paymentId))) return false
  const { paymentId, paidMinor: refundedMinor } = counted
  const report = {
    id,
    paymentId,
    providerPaymentId,
    refundedMinor,
    ...said,
    origin: 'void',
  } as const
  const [before] = await findReportsById(tx, [id])
  const news = await recordReport(tx, report)
  if (!news) return true
  const about = { account, object: providerPaymentId, paymentId }
  // A doubt about an object has an alert of its own.
  if (news.status === 'unknown' && news.objectId === null) await raiseAlert(tx, context, 'charge_doubtful', about)
  await followReports(tx, context, paymentId, { id, origin: 'void', before })
  return true
}

async function findCounted(tx: Tx, account: PaymentRow['account'], providerPaymentId: string) {
  const ids = { account, paymentId: providerPaymentId, paymentRequestId: null }
  const own = await findByProviderIds(tx, ids)
  const second = await findAnomaly(tx, anomalyId('paid_twice', account, providerPaymentId))
  const restMinor = second?.amountMinor ?? 0n
  if (own) return { paymentId: own.id, paidMinor: (own.paidMinor ?? own.fiatMinor) + restMinor }
  return second?.paymentId ? { paymentId: second.paymentId, paidMinor: second.amountMinor } : undefined
}

/** Records that a charge or its row is no longer in doubt. `id` is that of the report. */
export async function endDoubt(tx: Tx, context: Context, id: string): Promise<void> {
  const ended = await endVoid(tx, id)
  if (ended) await followReports(tx, context, ended.paymentId, { id, origin: 'void', before: ended })
}

/** A report that has just been stored, and as it was stored before. */
type ReportChange = {
  readonly id: string
  readonly origin: ReportOrigin
  readonly before: StoredReport | undefined
}

/** Updates the row of a payment and the freeze of its wallet from all reports about its charges. */
export async function followReports(tx: Tx, context: Context, id: string, change?: ReportChange): Promise<void> {
  const before = await lockPayment(tx, id)
  // Nothing is decided for a payment without a charge: its reports are counted once the charge is received.
  if (!before || before.providerPaymentId === null) return
  const read = await readReports(tx, before)
  const kept = await freezeFirst(tx, context, before, { read, change })
  // Both charges are counted, because the report may have named the other charge before.
  const counted = await countOthers(tx, context, kept, read)
  const payment = await followOwn(tx, context, counted, read, change)
  await followStance(tx, context, payment, stanceOf(payment, reportedIn(payment, read)))
  await followRestart(tx, context, kept, payment)
}

/**
 * Freezes the wallet before a loss of it is undone: otherwise it would be free for a moment while something else is open.
 * Returns the updated row.
 */
async function freezeFirst(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  { read, change }: { readonly read: ReadReports; readonly change: ReportChange | undefined },
): Promise<PaymentRow> {
  const now = reportedIn(payment, read)
  const next = { ...payment, refundedMinor: now.goneMinor, overpaidRefundedMinor: now.othersGoneMinor }
  if (stanceOf(next, now) !== 'freeze') return payment
  return freezeInDoubt(tx, context, payment, change !== undefined && isFurther(payment, { read, change }))
}

/**
 * Returns true if the change is about more than was reported before: a further refund or dispute, or a larger amount. All
 * of the money may have been in doubt already, so that the amount alone does not tell.
 */
function isFurther(
  payment: PaymentRow,
  { read, change }: { readonly read: ReadReports; readonly change: ReportChange },
): boolean {
  const { id, before } = change
  const known = read.reports.filter((one) => one.id !== id)
  const after = read.reports.find((one) => one.id === id)
  // A row of the list that names a known refund or dispute is about the same one.
  const isNew = (!before || !isOpen(before)) && !known.some((one) => one.id === after?.objectId)
  if (after && isOpen(after) && isNew) return true
  const [now, then] = [reportedIn(payment, read), reportedIn(payment, undone(read, change))]
  return now.mayGoMinor > then.mayGoMinor || now.othersMayGoMinor > then.othersMayGoMinor
}

/** Makes the freeze of the wallet follow all reports, after a step of the payment that no report caused. */
export const followDoubt = async (tx: Tx, context: Context, payment: PaymentRow): Promise<void> =>
  followStance(tx, context, payment, stanceOf(payment, await reportedOf(tx, payment)))

/** What is stored about the charges of a payment, and the second charges themselves. */
type ReadReports = {
  readonly reports: readonly StoredReport[]
  readonly seconds: Awaited<ReturnType<typeof findSeconds>>
}

async function readReports(tx: Tx, { id, providerPaymentId, overpaidMinor }: PaymentRow): Promise<ReadReports> {
  if (providerPaymentId === null) return { reports: [], seconds: [] }
  const own = await findReports(tx, providerPaymentId)
  if (overpaidMinor === 0n) return { reports: own, seconds: [] }
  const others = await findOtherReports(tx, id, providerPaymentId)
  return { reports: [...own, ...others], seconds: await findSeconds(tx, id) }
}

const undone = ({ reports, seconds }: ReadReports, { id, before }: ReportChange): ReadReports => ({
  reports: [...reports.filter((one) => one.id !== id), ...(before ? [before] : [])],
  seconds,
})

type Known = Exclude<Reported, 'unread'>

/** `othersGoneMinor`: what went back of second charges; `othersOrderedMinor`: the part of it that we ordered. */
function reportedIn(
  payment: PaymentRow,
  { reports, seconds }: ReadReports,
): Known & Readonly<Record<'othersGoneMinor' | 'othersOrderedMinor', bigint>> {
  const backOfCharge = (paymentId: string | null, minor: bigint) =>
    backOf(
      reports.filter((one) => one.providerPaymentId === paymentId),
      minor,
    )
  const restMinor = restIn(payment, seconds)
  // One of an inexact amount, or in another currency, is not counted, and nor is what leaves it.
  const others = seconds.flatMap(({ providerPaymentId, currency, minor }) =>
    minor !== null && currency === payment.currency && providerPaymentId !== payment.providerPaymentId
      ? [backOfCharge(providerPaymentId, minor)]
      : [],
  )
  const whole = backOfCharge(payment.providerPaymentId, (payment.paidMinor ?? payment.fiatMinor) + restMinor)
  const { own, rest } = splitBack(whole, restMinor)
  return {
    ...own,
    othersGoneMinor: others.reduce((sum, { goneMinor }) => sum + goneMinor, rest.goneMinor),
    othersOrderedMinor: others.reduce(
      (sum, { orderedMinor }) => sum + orderedMinor,
      whole.orderedMinor - own.orderedMinor,
    ),
    othersMayGoMinor: others.reduce((sum, { mayGoMinor }) => sum + mayGoMinor, rest.mayGoMinor),
  }
}

/** Returns the amount of the payment's own charge beyond the part that counts, in smallest units. */
export const restIn = (
  { providerPaymentId }: Pick<PaymentRow, 'providerPaymentId'>,
  seconds: ReadReports['seconds'],
): bigint => seconds.find((second) => second.providerPaymentId === providerPaymentId)?.minor ?? 0n

/**
 * Returns true if the loss of a payment is ours: all that went back was ordered by us, once too often, because a refund was made
 * that the provider had reported as failed.
 */
function isOurLoss(payment: PaymentRow, read: ReadReports): boolean {
  const { goneMinor, orderedMinor, othersGoneMinor, othersOrderedMinor } = reportedIn(payment, read)
  const isOrderedByUs = goneMinor === orderedMinor && othersGoneMinor === othersOrderedMinor
  const lost = lostMicro(payment)
  // guard: a loss by refunds that we ordered twice is ours
  return isOrderedByUs && lost > 0n && lost === beyondCeil(payment)
}

/** Returns what all reports about the charges of a payment say together. */
export const reportedOf = async (tx: Tx, payment: PaymentRow): Promise<Known> =>
  reportedIn(payment, await readReports(tx, payment))

/** Returns the updated row. */
async function followOwn(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  read: ReadReports,
  change: ReportChange | undefined,
): Promise<PaymentRow> {
  const { id } = payment
  const { goneMinor: refundedMinor, orderedMinor, isOpen } = reportedIn(payment, read)
  const isInDoubt = isOpen || refundedMinor !== payment.refundedMinor
  // A clean refund check covers only the reports that existed at the time.
  // guard: a hold is checked as soon as a report puts its money in doubt
  if (isInDoubt && mayBeOnHold(payment) && (payment.refundsCheckedAt || payment.state === 'paid' || change))
    await recordPayment(tx, id, { refundsCheckedAt: null, nextCheckAt: new Date(context.clock()) })
  const orderedBefore = change ? reportedIn(payment, undone(read, change)).orderedMinor : orderedMinor
  const moreMinor = orderedMinor - orderedBefore
  if (refundedMinor === payment.refundedMinor && moreMinor === 0n) return payment
  const byOthers = { ...payment, refundedMinor: refundedMinor - moreMinor }
  const counted = { refundedMinor, ...(moreMinor === 0n ? {} : waiverOf(byOthers, orderedBefore, orderedMinor)) }
  const set = { ...counted, ...needlessWaiverOf({ ...payment, ...counted }) }
  await recordPayment(tx, id, set)
  const fields = { paymentId: id, state: payment.state, origin: change?.origin, refundedMinor: `${refundedMinor}` }
  context.log.info(fields, 'refunded amount changed')
  const after = { ...payment, ...set }
  await bookChange(tx, payment, after, 'refund counted')
  if (refundedMinor < payment.refundedMinor) context.log.alarm(fields, 'refund or dispute undone, money is ours again')
  const isOurs = isOurLoss(after, read)
  if (lostMicro(after) < lostMicro(payment)) await shrinkReversal(tx, context, after, isOurs)
  const moved = await takeDecided(tx, context, after, decideRefunded(after), set)
  // A payment already in review may have lost more than before.
  if (!moved) await recordReversal(tx, context, after, isOurs)
  return moved ? leaveSecond(tx, context, moved) : after
}

/** Counts the refunds of second payments, which were never credited, and returns the updated row. */
export const countOther = async (tx: Tx, context: Context, payment: PaymentRow): Promise<PaymentRow> =>
  countOthers(tx, context, payment, await readReports(tx, payment))

async function countOthers(tx: Tx, context: Context, payment: PaymentRow, read: ReadReports): Promise<PaymentRow> {
  const { id, providerPaymentId } = payment
  if (providerPaymentId === null || payment.overpaidMinor === 0n) return payment
  const { othersGoneMinor: overpaidRefundedMinor } = reportedIn(payment, read)
  if (overpaidRefundedMinor === payment.overpaidRefundedMinor) return payment
  await recordPayment(tx, id, { overpaidRefundedMinor })
  const after = { ...payment, overpaidRefundedMinor }
  await bookChange(tx, payment, after, 'second payment refunded')
  const isOurs = isOurLoss(after, read)
  await shrinkReversal(tx, context, after, isOurs)
  await recordReversal(tx, context, after, isOurs)
  // It may have been refunded twice, and one of the two come back.
  if (overpaidRefundedMinor > payment.overpaidRefundedMinor || !hasSecondLeft(after)) return after
  context.log.alarm({ paymentId: id }, 'refund of a second payment undone, it is owed')
  return (await takeDecided(tx, context, after, decideOverpaid(after))) ?? after
}
