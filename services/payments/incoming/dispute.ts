import type { Db, Tx } from '#platform/db/open'
import type { DisputeCharge } from '#shared/messages/payments'
import type { ReadRequestOf } from '#shared/messages/topic'
import { providerAccounts } from '#shared/money/pair'
import { noneOfItsForm } from '#shared/provider/problem'
import type { Context } from '../context'
import { disputeReport, isEvidenceNews } from '../losses/dispute'
import { endDoubt, receiveDoubt } from '../losses/follow'
import {
  findOtherReports,
  findReports,
  findReportsById,
  planLook,
  planLookBy,
  recordReport,
  type StoredReport,
} from '../losses/refund.store'
import { isChargeNamed, isDispute, isOpen, isRow, lookAfterNewsMs, voidId } from '../losses/report'
import { paymentIdIn } from '../payment'
import { findByProviderIds, findPayment, lockPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import type { FetchedCharge, FetchedDispute } from '../provider'
import { findRefunded, isAnother } from '../providers/look-up'
import { findSeconds } from '../review/resolution.store'
import { anomalyId, findAnomaly, recordAnomaly } from '../schema.store'
import { fetchChargeOf, matchPayment, type PricedCharge, receiveRefund, withRate } from './receive'

/** A charge, and whether the provider or an operator has named it as that of a dispute. */
export type Disputed = { readonly charge: FetchedCharge; readonly isNamed: boolean }

/**
 * Finds the charge of a dispute by any id of it, or else the one that is known to be its: a row of the list or an operator
 * has named it. Otherwise our reference leads to the first charge of the payment.
 */
export async function findDisputed(
  context: Context,
  account: PaymentRow['account'],
  { disputeId, paymentId, reference }: FetchedDispute,
): Promise<Disputed | undefined> {
  const { database, provider } = context
  const named = await findRefunded(provider, account, { paymentId, paymentRequestId: null })
  if (named) return { charge: named, isNamed: true }
  const id = paymentIdIn(reference)
  const payment = id ? await database.read((db) => findPayment(db, id)) : undefined
  const own = payment?.account === account ? payment : undefined
  const known = await database.read((db) => findKnownCharge(db, own, disputeId))
  const charge = await (known ? provider.findCharge(account, known.charge) : fetchChargeOf(context, own))
  if (!charge) return undefined
  // guard: a dispute of a payment that is not found yet does not count against another payment
  if (known === undefined && isAnother(paymentId, charge)) return undefined
  return { charge, isNamed: known?.isNamed ?? false }
}

/**
 * Returns the charge against which the dispute, or a row of the list that names it, was received before. If a payment has
 * several charges, one that nobody has named is not known.
 */
async function findKnownCharge(
  db: Db,
  payment: PaymentRow | undefined,
  disputeId: string,
): Promise<{ charge: string; isNamed: boolean } | undefined> {
  const [known] = await findReportsById(db, [disputeId])
  const isNamed = known !== undefined && isChargeNamed(known)
  const charge = payment?.providerPaymentId
  const hasSeveral = payment !== undefined && payment.overpaidMinor > 0n
  if (known && (isNamed || !hasSeveral)) return { charge: known.providerPaymentId, isNamed }
  if (!charge || !hasSeveral) return undefined
  const others = await findOtherReports(db, payment.id, charge)
  const row = others.find(({ objectId, origin }) => origin === 'chargeback' && objectId === disputeId)
  return row && { charge: row.providerPaymentId, isNamed: true }
}

/** A dispute, with its charge. */
export type FetchedCase = {
  readonly dispute: FetchedDispute
  readonly fetched: PricedCharge
  readonly isNamed: boolean
  /** True if we asked again by ourselves, without news of it. */
  readonly isLook?: boolean
}

/**
 * Receives a dispute as a report on its charge, and alerts an operator of each date until which evidence is due. While
 * nobody knows which of several charges of a payment it is about, it is a doubt on each of them.
 */
export async function receiveDispute(
  tx: Tx,
  context: Context,
  { dispute, fetched, isNamed, isLook = false }: FetchedCase,
): Promise<void> {
  const { disputeId: id, paymentId, reference, currency } = dispute
  const { account, paymentId: charge } = fetched.charge
  const report = { ...disputeReport(dispute), origin: 'chargeback', currency } as const
  const owner = await matchPayment(tx, { charge: fetched.charge })
  const charges = owner ? await chargesOf(tx, owner) : []
  const before = await findReportsById(tx, [id, ...charges.map((one) => doubtId(id, one))])
  const known = before.find((one) => one.id === id)
  // guard: a dispute whose charge nobody has named counts for none of several
  const isSure = isNamed || (known !== undefined && isChargeNamed(known) && known.providerPaymentId === charge)
  const received = { ...report, refundId: id, paymentId, paymentRequestId: null, reference, isLook }
  if (owner && charges.length > 1 && !isSure && report.status !== 'dead') {
    const doubt = { account, objectId: id, status: 'unknown' } as const
    for (const one of charges) {
      const { evidenceDueAt } = one === charge ? report : { evidenceDueAt: null }
      await receiveDoubt(tx, context, one, { ...doubt, id: doubtId(id, one), evidenceDueAt })
    }
    // It could not be fetched before. From now on the doubts about each charge are looked after.
    await endDoubt(tx, context, voidId(id))
    const nextCheckAt = new Date(context.clock() + lookAfterNewsMs(doubt))
    await (isLook ? planLook : planLookBy)(tx, doubtId(id, charge), nextCheckAt)
    // It was received before the second charge was known. From now on the doubts are looked after.
    if (known && known.status !== 'dead') await receiveRefund(tx, context, { ...received, status: 'dead' }, fetched)
    if (known) await planLook(tx, id, null)
    const about = { account, object: id, paymentId: owner.id }
    if (await recordAnomaly(tx, { kind: 'charge_ambiguous', ...about }))
      context.log.alarm({ disputeId: id, paymentId: owner.id }, 'dispute of one of several charges')
  } else {
    // guard: a row that names only a dispute counts for the charge of the dispute
    if (owner && isSure) await moveRows(tx, owner, id, charge)
    await receiveRefund(tx, context, { ...received, objectId: isSure ? charge : null }, fetched)
    for (const one of charges) await endDoubt(tx, context, doubtId(id, one))
  }
  const about = { account, object: id, paymentId: owner?.id }
  const { refundedMinor: amountMinor } = report
  if (report.status === 'dead') await recordAnomaly(tx, { kind: 'dispute_won', ...about, currency, amountMinor })
  if (isEvidenceNews(dispute, before)) alertOfEvidence(context, dispute, about.paymentId)
}

/** Moves the rows of the list that name the dispute to its charge: our reference alone has led them to the first. */
async function moveRows(tx: Tx, owner: PaymentRow, disputeId: string, charge: string): Promise<void> {
  if (owner.providerPaymentId === null || owner.overpaidMinor === 0n) return
  const reports = [
    ...(await findReports(tx, owner.providerPaymentId)),
    ...(await findOtherReports(tx, owner.id, owner.providerPaymentId)),
  ]
  for (const row of reports)
    if (isRow(row) && row.objectId === disputeId && row.providerPaymentId !== charge)
      await recordReport(tx, { ...row, providerPaymentId: charge })
}

/** Returns the id of the doubt about one of the charges that a dispute may be about. */
const doubtId = (disputeId: string, charge: string): string => voidId(`${disputeId}:${charge}`)

/** Returns the charges of a payment, its own first. */
async function chargesOf(tx: Tx, { id, providerPaymentId, overpaidMinor }: PaymentRow): Promise<string[]> {
  if (providerPaymentId === null) return []
  const seconds = overpaidMinor > 0n ? await findSeconds(tx, id) : []
  return [...new Set([providerPaymentId, ...seconds.map((second) => second.providerPaymentId)])]
}

/**
 * Records the decision of an operator that a dispute is about `charge`, because the provider names no charge of ours, or
 * one of several only by our reference. A retry changes nothing.
 */
export async function nameCharge(
  context: Context,
  { disputeId, charge, by, reason }: ReadRequestOf<typeof DisputeCharge>,
): Promise<{ done: string } | { refused: string }> {
  const { database, provider, log } = context
  const payment = await database.read((db) => findOwnerOf(db, charge))
  if (!payment) return { refused: `${charge} is no charge of a payment of ours` }
  const { account } = payment
  const dispute = await provider.findDispute(account, disputeId).catch(noneOfItsForm)
  const fetched = await withRate(context, await provider.findCharge(account, charge))
  if (!dispute || !fetched) return { refused: `${disputeId} or ${charge} cannot be read at the provider` }
  const disputed = await findDisputed(context, account, dispute)
  const outcome = await database.transaction(async (tx) => {
    await lockPayment(tx, payment.id)
    const [known] = await findReportsById(tx, [disputeId])
    const isKnown = known !== undefined && isChargeNamed(known)
    const found = disputed?.isNamed ? disputed.charge.charge.paymentId : charge
    const named = isKnown ? known.providerPaymentId : found
    if (named !== charge) return { refused: `${disputeId} is about ${named}` }
    await receiveDispute(tx, context, { dispute, fetched, isNamed: true })
    log.info({ paymentId: payment.id, disputeId, charge, by, reason }, 'charge of a dispute named by operator')
    return { done: `${disputeId} is about ${charge} of ${payment.id}` }
  })
  context.poke()
  return outcome
}

/** Returns the payment of which the charge is the own or a second one. */
async function findOwnerOf(db: Db, charge: string): Promise<PaymentRow | undefined> {
  for (const account of providerAccounts) {
    const own = await findByProviderIds(db, { account, paymentId: charge, paymentRequestId: null })
    const second = own ? undefined : await findAnomaly(db, anomalyId('paid_twice', account, charge))
    const found = own ?? (second?.paymentId ? await findPayment(db, second.paymentId) : undefined)
    if (found) return found
  }
  return undefined
}

/** Alerts that the provider waits for evidence. It sends no reminder of its own. */
export function alertOfEvidence({ log }: Context, { disputeId, dueAt }: FetchedDispute, paymentId?: string): void {
  const fields = { disputeId, paymentId, evidenceDueAt: dueAt }
  log.alarm(fields, 'dispute is lost unless it is answered in time')
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
): Promise<Omit<FetchedCase, 'fetched'>[]> {
  const known = await database.read(async (db) => [
    ...(await findReports(db, providerPaymentId)),
    ...(named === null ? [] : await findReportsById(db, [named, doubtId(named, providerPaymentId)])),
  ])
  const cases: Omit<FetchedCase, 'fetched'>[] = []
  for (const [id, charge] of new Map(known.flatMap(disputeIn))) {
    const dispute = await provider.findDispute(account, id).catch(noneOfItsForm)
    const isIts = charge === providerPaymentId || dispute?.paymentId === null
    const isNamed = id === named || known.some((one) => one.id === id && isDispute(one) && isChargeNamed(one))
    if (dispute && isIts) cases.push({ dispute, isNamed })
  }
  return cases
}

/** Returns the dispute of a report and its charge, which is undefined while it may be about several. */
export function disputeIn(report: StoredReport): [id: string, charge: string | undefined][] {
  const { id, objectId, origin, status, providerPaymentId } = report
  if (isDispute(report)) return [[id, providerPaymentId]]
  return origin === 'void' && status !== 'dead' && objectId !== null ? [[objectId, undefined]] : []
}

/**
 * Asks for the open disputes of a payment's charge: one of them may be over, and its webhook be lost. Throws if one cannot
 * be read.
 */
export async function recheckDisputesOf(
  context: Context,
  { account, providerPaymentId }: Pick<PaymentRow, 'account' | 'providerPaymentId'>,
): Promise<void> {
  if (providerPaymentId === null) return
  const reports = await context.database.read((db) => findReports(db, providerPaymentId))
  for (const report of reports)
    for (const [id] of isOpen(report) ? disputeIn(report) : []) await askForDispute(context, account, id)
}

/** Asks for a dispute without news of it. Returns false if it, or its charge, is not found. */
export async function askForDispute(
  context: Context,
  account: PaymentRow['account'],
  disputeId: string,
): Promise<boolean> {
  // A webhook may have named it, and the provider refuse its id.
  const dispute = await context.provider.findDispute(account, disputeId).catch(noneOfItsForm)
  const disputed = dispute && (await findDisputed(context, account, dispute))
  const fetched = await withRate(context, disputed?.charge)
  if (!dispute || !disputed || !fetched) return false
  await context.database.transaction((tx) =>
    receiveDispute(tx, context, { ...disputed, dispute, fetched, isLook: true }),
  )
  return true
}
