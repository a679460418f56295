import { ageMs } from '#platform/clock'
import type { Db, Tx } from '#platform/db/open'
import { RateFind } from '#shared/messages/pricing'
import { raiseAlert } from '../alert'
import { askOr, type Context } from '../context'
import {
  decideOverpaid,
  decideReceipt,
  hasSecondLeft,
  isHeld,
  isLate,
  nextCheck,
  type Receipt,
  rateUnread,
} from '../decide'
import { bookChange, bookMatched, bookUnmatched } from '../ledger/book'
import { findChargeFacts } from '../losses/charge-facts.store'
import { countOther, endDoubt, followReports, receiveDoubt } from '../losses/follow'
import {
  findReports,
  findReportsById,
  planLook,
  planLookBy,
  recordReport,
  type StoredReport,
} from '../losses/refund.store'
import {
  backOf,
  isChargeNamed,
  isDispute,
  isRow,
  lookAfterLookMs,
  lookAfterNewsMs,
  type ReportOrigin,
  voidId,
} from '../losses/report'
import { makeGood } from '../losses/reversal'
import { endCancelled, expire, leaveSecond, takeDecided, takeStep } from '../onchain/advance'
import { awaitsRate, isUnreceived, limitedMicro, paymentIdFrom } from '../payment'
import {
  type Change,
  findByCheckout,
  findByProviderIds,
  findPayment,
  lockPayment,
  lockPaymentAhead,
  movePayment,
  recordPayment,
} from '../payment.store'
import type { PaymentRow } from '../payment.table'
import type { Charge, Checkout, FetchedCharge, FetchedRefund } from '../provider'
import { listRefundsOf } from '../providers/look-up'
import { endRefunding, isOrdered, recordRefundOutcome } from '../review/refund-outcome'
import { recordAnomaly } from '../schema.store'
import { admitExcess, mayExceed, type Owner, readOwner } from '../treasury/excess'

// Webhooks, rechecks and the list all bring money, refunds and ended checkouts here, the single entry point.
// Everything received here was fetched from the provider with our own key.

/** A fetched charge with all data that the transaction needs, since the transaction makes no network calls. */
export type PricedCharge = FetchedCharge & {
  /** Current rate for late money; null if the money is not late or waits for a rate. */
  readonly presentMinorPerUsd: bigint | null
  /** Payment that the charge matched before the transaction. */
  readonly match?: PaymentRow | undefined
  /** State of the payment's wallet on the chain; set if the charge may bring more than the limits have admitted. */
  readonly owner?: Owner | undefined
  /** Refunds made before the charge is received for the first time. */
  readonly refunds?: readonly FetchedRefund[]
}

/**
 * Adds the current rate and the other data of `PricedCharge`. The transaction, which locks the wallet,
 * decides if the rate applies. `named` is a payment that was read a moment ago, as the charge may be its own.
 */
export async function withRate(
  context: Context,
  fetched: FetchedCharge | null | undefined,
  { checkout, named }: { checkout?: Checkout; named?: PaymentRow | undefined } = {},
): Promise<PricedCharge | undefined> {
  if (!fetched) return undefined
  const { status, charge } = fetched
  const unpriced = { ...fetched, presentMinorPerUsd: null }
  if (status !== 'succeeded') return unpriced
  const isNamed =
    named !== undefined && named.account === charge.account && paymentIdFrom(charge.reference) === named.id
  const match = isNamed ? named : await context.database.read((db) => matchPayment(db, { charge, checkout }))
  if (!match || !isUnreceived(match)) return { ...unpriced, match }
  const isUnadmitted = mayExceed(context, match, charge)
  const owner = isUnadmitted ? await readOwner(context, match) : undefined
  const matched = { ...unpriced, match, owner, refunds: await earlierRefunds(context, charge) }
  if (!isLate(match, charge)) return matched
  const rate = await askOr(context, RateFind, { pair: match.pair }, 'rate_unavailable')
  const presentMinorPerUsd = 'refused' in rate ? rateUnread(match, charge, context.clock()) : BigInt(rate.ok.rate)
  return { ...matched, presentMinorPerUsd }
}

/**
 * Age below which a charge is not asked for refunds, in ms: refunds before the credit are made by hand, so
 * not sooner.
 */
const unrefundedMs = 60_000

/**
 * Fetches the refunds of a charge that is received late, as after an outage: the webhook of its refund may
 * still be missing, and refunded money must not be credited.
 */
async function earlierRefunds({ provider, clock }: Context, charge: Charge) {
  const isNew = charge.paidAt !== null && ageMs(charge.paidAt, clock()) < unrefundedMs
  return isNew ? [] : ((await listRefundsOf(provider, charge)) ?? [])
}

export type FetchedCheckout = {
  readonly checkout?: Checkout | undefined
  readonly fetched?: PricedCharge | undefined
}

/**
 * Fetches a checkout and its charge. An open checkout has no charge until it completes. Throws if the
 * provider cannot be reached.
 */
export async function fetchCheckout(
  context: Context,
  account: PaymentRow['account'],
  checkoutId: string,
): Promise<FetchedCheckout> {
  const { provider } = context
  const checkout = await provider.findCheckout(account, checkoutId)
  if (!checkout) return {}
  const { paymentId, paymentRequestId, status } = checkout
  const priced = async (charge: FetchedCharge | null | undefined) => ({
    checkout,
    fetched: await withRate(context, charge, { checkout }),
  })
  if (paymentId) return priced(await provider.findCharge(account, paymentId))
  if (!paymentRequestId || status === 'open') return { checkout }
  // A bank transfer may settle after its checkout has closed.
  return priced(await provider.findChargeOfRequest(account, paymentRequestId))
}

/** Fetches the charge of a payment, which need not have been received yet. Throws if the provider cannot be reached. */
export async function fetchChargeOf(
  context: Context,
  payment: Pick<PaymentRow, 'account' | 'providerPaymentId' | 'checkoutId'> | undefined,
): Promise<FetchedCharge | undefined> {
  if (payment?.providerPaymentId) return context.provider.findCharge(payment.account, payment.providerPaymentId)
  if (payment?.checkoutId) return (await fetchCheckout(context, payment.account, payment.checkoutId)).fetched
  return undefined
}

/** Receives a checkout and its charge. Returns true if the payment became `paid`. */
export async function receiveCheckout(
  tx: Tx,
  context: Context,
  account: PaymentRow['account'],
  { checkout, fetched }: FetchedCheckout,
): Promise<boolean> {
  if (!checkout) return false
  const hasSucceeded = fetched?.status === 'succeeded'
  if (hasSucceeded && (await receiveCharge(tx, context, fetched, checkout))) return true
  const found = await findByCheckout(tx, account, checkout.checkoutId)
  // The lock comes before an anomaly, as in a refund of the charge: the two would otherwise wait for each other.
  if (found) lockPaymentAhead(tx, found.id)
  if (fetched && !hasSucceeded) await receiveCharge(tx, context, fetched, checkout)
  // The charge is already received, or not paid yet, but the checkout's own status may still be news.
  if (checkout.status === 'unknown')
    await raiseAlert(tx, context, 'status_unknown', { account, object: checkout.checkoutId })
  const payment = found && (await findPayment(tx, found.id))
  if (!payment) return false
  const { paymentRequestId } = checkout
  if (paymentRequestId && payment.paymentRequestId === null) await recordPayment(tx, payment.id, { paymentRequestId })
  // The charge was voided before we saw it, so there is no money unless the provider takes the void back.
  const isVoid = checkout.status === 'completed' && fetched?.status === 'voided'
  if (checkout.status === 'closed' || isVoid) await expire(tx, context, payment)
  if (checkout.status === 'cancelled') await endCancelled(tx, context, payment)
  return false
}

/**
 * Receives a charge in any status. Returns true if the payment became `paid`. The money of a counted charge
 * that no longer reads as succeeded may be on its way back; any other charge without money changes nothing.
 */
export async function receiveCharge(
  tx: Tx,
  context: Context,
  fetched: PricedCharge,
  checkout?: Checkout,
): Promise<boolean> {
  const { status, charge } = fetched
  if (status === 'succeeded') return receivePayment(tx, context, fetched, checkout)
  await receiveDoubt(tx, context, charge.paymentId, {
    account: charge.account,
    id: voidId(charge.paymentId),
    status: status === 'voided' ? 'succeeded' : 'unknown',
  })
  if (status === 'unknown') {
    const { account, paymentId: object, currency, paidMinor: amountMinor } = charge
    await raiseAlert(tx, context, 'status_unknown', { account, object, currency, amountMinor })
  }
  if (status === 'pending' && charge.senderVerification === 'pending')
    context.log.info({ providerPaymentId: charge.paymentId }, 'payment waiting for sender verification')
  return false
}

type Evidence = { readonly charge: Charge; readonly checkout?: Checkout | undefined }

async function receivePayment(
  tx: Tx,
  context: Context,
  { charge, presentMinorPerUsd, match, owner, refunds = [] }: PricedCharge,
  checkout?: Checkout,
): Promise<boolean> {
  const found = match ?? (await matchPayment(tx, { charge, checkout }))
  if (!found) {
    await recordUnmatched(tx, context, charge)
    return false
  }
  const locked = lockPaymentAhead(tx, found.id)
  for (const refund of refunds) {
    const report = await storedReportOf(tx, refund, found, charge)
    await recordReport(tx, report)
    await planNext(tx, context, { report, before: undefined, isLook: false })
  }
  const { reports, isBooked, isShort } = await findChargeFacts(tx, found, charge)
  const payment = locked()!
  const { goneMinor: refundedMinor, isOpen } = backOf(reports, charge.paidMinor ?? 0n)
  const decided = decideReceipt({ ...payment, refundedMinor }, charge, presentMinorPerUsd)
  // A payment with an open refund is held, whatever its channel.
  const held = isHeld(charge.channelKind) || isOpen
  const { receipt, set: admitted } =
    'onchainMicro' in decided
      ? await admitExcess(tx, context, payment, { receipt: decided, charge, held, owner })
      : { receipt: decided, set: {} }
  if ('known' in receipt) {
    if (charge.senderVerification === 'failed' && payment.reason !== 'sender_unverified')
      await raiseAlert(tx, context, 'sender_unverified', {
        account: charge.account,
        object: charge.paymentId,
        paymentId: payment.id,
      })
    await endDoubt(tx, context, voidId(charge.paymentId))
    return false
  }
  if (isBooked) await bookMatched(tx, charge)
  if ('overpaid' in receipt) {
    await recordOverpaid(tx, context, payment, charge)
    await endDoubt(tx, context, voidId(charge.paymentId))
    return false
  }
  if ('awaitsRate' in receipt) {
    await waitForRate(tx, context, payment, charge)
    return false
  }
  const shares = await sharesOf(tx, context, payment, { receipt, held, isShort })
  const counted = 'counted' in receipt ? await countPart(tx, context, { payment, charge, receipt }) : {}
  const moved = await takeStep(tx, context, payment, receipt, {
    providerPaymentId: charge.paymentId,
    paymentRequestId: charge.paymentRequestId ?? payment.paymentRequestId,
    ...shownOf(charge),
    held,
    paidMinor: charge.paidMinor,
    paidAt: charge.paidAt ?? new Date(context.clock()),
    refundedMinor,
    ...(receipt.next === 'review' ? {} : { refundAppliedMinor: refundedMinor }),
    ...(awaitsRate(payment) ? { reason: null } : {}),
    ...counted,
    ...admitted,
    ...shares,
  })
  // All of the payment covered earlier reversals, so nothing goes on the chain.
  const isOver = moved.state === 'paid' && moved.onchainMicro === 0n
  const ended = isOver ? await takeStep(tx, context, moved, { next: 'credited', reason: 'made_good' }) : moved
  await leaveSecond(tx, context, ended)
  return moved.state === 'paid'
}

/**
 * Returns the change that counts a part of a charge. The rest of it is recorded as money beyond the promise, as a second
 * charge is, and alerts an operator.
 */
async function countPart(
  tx: Tx,
  { log }: Context,
  about: { payment: PaymentRow; charge: Charge; receipt: Extract<Receipt, { next: 'paid' }> },
): Promise<Change> {
  const { payment, charge, receipt } = about
  const { restMinor, restRefundedMinor, promisedMicro, ...counted } = receipt.counted
  const { account, paymentId: object, currency } = charge
  if (restMinor > 0n) {
    await recordAnomaly(tx, {
      kind: 'paid_twice',
      account,
      object,
      currency,
      amountMinor: restMinor,
      paymentId: payment.id,
    })
    const fields = { paymentId: payment.id, providerPaymentId: object, restMinor: String(restMinor) }
    log.alarm(fields, 'settlement overpaid')
  }
  return {
    ...receipt.late,
    ...counted,
    ...(promisedMicro === null ? {} : { promisedMicro }),
    // guard: the limits of a day count the AUSD after the fee
    topupMicro: limitedMicro(payment, counted),
    paidMinor: (charge.paidMinor ?? counted.fiatMinor) - restMinor,
    refundAppliedMinor: counted.refundedMinor,
    overpaidMinor: payment.overpaidMinor + restMinor,
    overpaidRefundedMinor: payment.overpaidRefundedMinor + restRefundedMinor,
  }
}

/** Returns what a payment shows of its charge: the channel, and what names the payment on the payer's side. */
const shownOf = ({ channel, issuer, bankReceipt }: Charge) => ({ channel, issuer, bankReceipt })

/** Ends the checkout; rechecks wait for a rate. */
async function waitForRate(tx: Tx, context: Context, payment: PaymentRow, charge: Charge) {
  const { id: paymentId, state } = payment
  const fields = { paymentId, providerPaymentId: charge.paymentId }
  context.log.alarm(fields, 'late payment has no exchange rate yet')
  if (awaitsRate(payment)) return
  const set = {
    providerPaymentId: charge.paymentId,
    ...shownOf(charge),
    paymentRequestId: charge.paymentRequestId ?? payment.paymentRequestId,
    paidMinor: charge.paidMinor,
  }
  const reason = 'awaiting_rate' as const
  if (state !== 'expired' && state !== 'replaced') {
    await takeStep(tx, context, payment, { next: 'expired', reason }, set)
    return
  }
  const quiet = { ...payment, checks: 0, reason }
  const nextCheckAt = nextCheck(quiet, context.clock(), context.recheckAfterMs)
  const waiting = await movePayment(tx, paymentId, {
    from: state,
    to: state,
    nextCheckAt,
    set: { ...set, reason },
  })
  if (waiting) await bookChange(tx, payment, waiting, 'late money came')
}

/** Splits a payment into the part that covers earlier reversals and the part for the chain. */
async function sharesOf(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  { receipt, held, isShort }: { receipt: Receipt; held: boolean; isShort: boolean },
) {
  if (!('onchainMicro' in receipt)) return {}
  const { onchainMicro } = receipt
  // guard: a reversible payment covers no loss
  if (payment.kind !== 'topup' || held || !isShort) return { onchainMicro }
  const recoveredMicro = await makeGood(tx, context, payment, onchainMicro)
  if (recoveredMicro === 0n) return { onchainMicro }
  return {
    onchainMicro: onchainMicro - recoveredMicro,
    recoveredMicro,
    reason: 'made_good' as const,
  }
}

/** Finds the payment of a charge. */
export async function matchPayment(tx: Db, { charge, checkout }: Evidence): Promise<PaymentRow | undefined> {
  const ours = (row: PaymentRow | undefined) => (row?.account === charge.account ? row : undefined)
  const byReference = async (reference: string) => {
    const id = paymentIdFrom(reference)
    return id ? ours(await findPayment(tx, id)) : undefined
  }
  const completed = checkout && leadsTo(checkout, charge) ? checkout : undefined
  return (
    (completed && (await findByCheckout(tx, charge.account, completed.checkoutId))) ??
    (completed && (await byReference(completed.reference))) ??
    (await byReference(charge.reference)) ??
    (await findByProviderIds(tx, charge))
  )
}

const leadsTo = (checkout: Checkout, charge: Charge): boolean =>
  checkout.paymentId === charge.paymentId ||
  (checkout.paymentRequestId !== null && checkout.paymentRequestId === charge.paymentRequestId)

async function recordUnmatched(tx: Tx, { log }: Context, charge: Charge): Promise<void> {
  const { account, paymentId, currency, paidMinor, bankReceipt } = charge
  const anomaly = { account, object: paymentId, currency, amountMinor: paidMinor, bankReceipt }
  if (await recordAnomaly(tx, { kind: 'money_unmatched', ...anomaly }))
    log.alarm({ providerPaymentId: paymentId }, 'charge does not match any payment')
  await bookUnmatched(tx, charge)
}

async function recordOverpaid(tx: Tx, context: Context, payment: PaymentRow, charge: Charge) {
  const { account, paymentId: object, currency, paidMinor, bankReceipt } = charge
  const anomaly = { account, object, currency, amountMinor: paidMinor, paymentId: payment.id, bankReceipt }
  // guard: a second payment is counted once, however often it is reported
  if (!(await recordAnomaly(tx, { kind: 'paid_twice', ...anomaly }))) return
  // A charge of an inexact amount or in another currency is recorded as an anomaly only.
  const countedMinor = currency === payment.currency ? (paidMinor ?? 0n) : 0n
  const overpaidMinor = payment.overpaidMinor + countedMinor
  const fields = { paymentId: payment.id, providerPaymentId: object }
  context.log.alarm(fields, 'payment paid twice')
  await recordPayment(tx, payment.id, { overpaidMinor })
  const after = { ...payment, overpaidMinor }
  await bookChange(tx, payment, after, 'paid a second time')
  const counted = await countOther(tx, context, after)
  // Nobody needs to decide about a charge of which nothing is left.
  if (countedMinor === 0n || hasSecondLeft(counted)) await takeDecided(tx, context, counted, decideOverpaid(counted))
  await doubtDisputes(tx, context, payment)
}

/** Has the disputes of the first charge asked for at once that only our reference has led to it: they may be about another. */
async function doubtDisputes(tx: Tx, { clock }: Context, { providerPaymentId }: PaymentRow): Promise<void> {
  if (providerPaymentId === null) return
  for (const report of await findReports(tx, providerPaymentId))
    if (isDispute(report) && !isChargeNamed(report)) await planLookBy(tx, report.id, new Date(clock()))
}

/** Receives the charge of a payment and its refunds as they are now. Throws if they cannot be read. */
export async function receiveAgain(context: Context, payment: PaymentRow): Promise<void> {
  const { provider, database } = context
  const { id, account, paymentRequestId, providerPaymentId } = payment
  if (!providerPaymentId) throw new Error(`${id} has no charge`)
  const found = await provider.findCharge(account, providerPaymentId)
  const fetched = await withRate(context, found)
  const charge = found && { ...found.charge, paymentRequestId }
  const refunds = charge && (await listRefundsOf(provider, charge))
  await database.transaction(async (tx) => {
    if (!fetched) {
      const about = { account, id: voidId(providerPaymentId), status: 'unknown' } as const
      await receiveDoubt(tx, context, providerPaymentId, about)
      return
    }
    await receiveCharge(tx, context, fetched)
    for (const refund of refunds ?? []) await receiveRefund(tx, context, refund, fetched)
  })
}

export type ReceivedRefund = FetchedRefund & {
  readonly origin?: ReportOrigin
  readonly objectId?: string | null
  readonly evidenceDueAt?: Date | null
  /** True if we asked again by ourselves, without news of it. */
  readonly isLook?: boolean
}

const storedReportOf = async (
  tx: Tx,
  { refundId: id, objectId = null, evidenceDueAt = null, status, currency, ...refund }: ReceivedRefund,
  payment: PaymentRow | undefined,
  charge: Charge,
) => ({
  id,
  paymentId: payment?.id ?? '',
  providerPaymentId: charge.paymentId,
  objectId,
  evidenceDueAt,
  status,
  // guard: an amount in another currency counts as all that is left
  refundedMinor: currency === charge.currency ? refund.refundedMinor : null,
  origin: refund.origin ?? ((await isOrdered(tx, refund)) ? ('ordered' as const) : ('refund' as const)),
})

async function planNext(
  tx: Tx,
  { clock }: Context,
  about: {
    report: Awaited<ReturnType<typeof storedReportOf>>
    before: StoredReport | undefined
    isLook: boolean | undefined
  },
): Promise<void> {
  const { report, before, isLook } = about
  if (!isLook) {
    // guard: a decision about a refund or dispute is read once more after its news
    await planLookBy(tx, report.id, new Date(clock() + lookAfterNewsMs(report)))
    return
  }
  const afterMs = lookAfterLookMs(report, before)
  await planLook(tx, report.id, afterMs === null ? null : new Date(clock() + afterMs))
}

/** Receives a refund, and first the refunded charge, which may still be unknown. */
export async function receiveRefund(
  tx: Tx,
  context: Context,
  refund: ReceivedRefund,
  fetched: PricedCharge,
): Promise<void> {
  const { charge } = fetched
  const { account } = charge
  const matched = await matchPayment(tx, { charge })
  const locked = matched && (await lockPayment(tx, matched.id))
  const [before] = await findReportsById(tx, [refund.refundId])
  const report = await storedReportOf(tx, refund, matched, charge)
  const { refundedMinor, origin } = report
  await recordReport(tx, report)
  if (!isRow(report)) await planNext(tx, context, { report, before, isLook: refund.isLook })
  const change = { id: report.id, origin, before }
  if (before && before.paymentId !== matched?.id) await followReports(tx, context, before.paymentId, change)
  await recordRefundOutcome(tx, context, refund)
  const about = { account, object: refund.refundId }
  if (!matched) {
    await recordAnomaly(tx, { kind: 'object_unknown', ...about })
    if (fetched.status === 'succeeded') await recordUnmatched(tx, context, charge)
    // A webhook may have named one of our payments with it.
    await endDoubt(tx, context, voidId(refund.refundId))
    return
  }
  const { id: paymentId } = matched
  if (refund.status === 'unknown') await raiseAlert(tx, context, 'status_unknown', { ...about, paymentId })
  if (refundedMinor === null && refund.status !== 'dead')
    await raiseAlert(tx, context, 'amount_unknown', { ...about, paymentId })
  // A charge that counts already may be in doubt, which ends once it is received; the refund must be counted as what it is.
  const isCounted = locked?.providerPaymentId === charge.paymentId
  if (isCounted) await followReports(tx, context, paymentId, change)
  await receiveCharge(tx, context, fetched)
  if (!isCounted) await followReports(tx, context, paymentId, change)
  // It could not be fetched before, so that all of the money was in doubt.
  await endDoubt(tx, context, voidId(refund.refundId))
  if (locked?.state === 'refunding') await endRefunding(tx, context, paymentId)
}
