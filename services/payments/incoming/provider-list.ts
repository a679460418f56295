import { ageMs } from '#platform/clock'
import type { Tx } from '#platform/db/open'
import { failpoint } from '#platform/failpoint'
import { countryBy } from '#shared/money/countries'
import { type ProviderAccount, providerAccounts } from '#shared/money/pair'
import { type Listing, type ListingSettings, receiveRows, startReadingList } from '#shared/provider/listing'
import { noneOfItsForm } from '#shared/provider/problem'
import type { Listed } from '#shared/provider/transactions'
import { raiseAlert } from '../alert'
import type { Context } from '../context'
import { bookListed, bookMatchedRow } from '../ledger/book'
import { endDoubt, receiveDoubt } from '../losses/follow'
import { findReportsById } from '../losses/refund.store'
import { chargebackId, isChargeNamed, isDispute, listedId, voidId } from '../losses/report'
import { isOrderedByUs, paymentIdIn } from '../payment'
import { findByProviderIds, findOwned, findPayment, firstPaymentAt, lockPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import type { FetchedCharge, FetchedDispute, FetchedRefund } from '../provider'
import { findRefunded as findRefundedCharge, isAnother, listRefundsOf } from '../providers/look-up'
import { isOrdered } from '../review/refund-outcome'
import { findOrders, findSeconds } from '../review/resolution.store'
import { anomalyId, findAnomalies, listings, recordAnomaly } from '../schema.store'
import { fetchDisputes, findDisputed, receiveDispute } from './dispute'
import { doubtOf, isRowDone, type RowFacts, statusOf } from './is-row-done'
import {
  fetchChargeOf,
  fetchCheckout,
  matchPayment,
  type PricedCharge,
  type ReceivedRefund,
  receiveCharge,
  receiveCheckout,
  receiveRefund,
  withRate,
} from './receive'

// Each row names an object, which is fetched; chargebacks have no endpoint, so the row itself is the
// evidence. A row is received at each reading until its object is recorded as listed, so that a wrong answer
// about the object heals.

export const startListing = (context: Context, settings: ListingSettings) =>
  startReadingList(paymentListing(context), settings, context.poke)

export function paymentListing(context: Context): Listing {
  // The first payment is cached once it exists, because no older payment can appear later.
  let first: Date | null = null
  return {
    database: context.database,
    clock: context.clock,
    log: context.log,
    listings,
    accounts: providerAccounts,
    list: (account, updatedFrom) => context.provider.listTransactions(account, context.clock() - updatedFrom.getTime()),
    oldest: async () => {
      first ??= await context.database.read(firstPaymentAt)
      return first
    },
    done: (account, rows) => doneOf(context, account, rows),
    receive: (account, row) => receiveRow(context, account, row),
  }
}

async function doneOf(
  { database, clock }: Context,
  account: ProviderAccount,
  rows: readonly Listed[],
): Promise<Set<Listed>> {
  if (rows.length === 0) return new Set()
  const reportIds = rows.flatMap(({ transactionId: id, productId }) => [
    listedId(id),
    chargebackId(id),
    voidId(id),
    voidId(productId ?? ''),
    productId ?? '',
  ])
  const anomalyIds = rows.flatMap(({ transactionId, productId }) => [
    ...[transactionId, productId ?? ''].map((id) => anomalyId('money_unmatched', account, id)),
    anomalyId('paid_twice', account, productId ?? ''),
  ])
  const [owned, stored, anomalies] = await database.read(async (db) => [
    await findOwned(db, account, {
      paymentIds: rows.flatMap(({ productId }) => productId ?? []),
      requestIds: rows.flatMap(({ paymentRequestId }) => paymentRequestId ?? []),
      ids: rows.flatMap(({ reference }) => paymentIdIn(reference) ?? []),
    }),
    await findReportsById(db, reportIds),
    await findAnomalies(db, anomalyIds),
  ])
  const objectIds = stored.flatMap(({ objectId }) => objectId ?? [])
  const objects = await database.read((db) => findReportsById(db, objectIds))
  const reports = new Map([...stored, ...objects].map((report) => [report.id, report]))
  const isOwned = ({ productId, paymentRequestId, reference }: Listed) =>
    owned.has(productId ?? '') || owned.has(paymentRequestId ?? '') || owned.has(paymentIdIn(reference) ?? '')
  const nowMs = clock()
  const isUnmatched = ({ type, transactionId, productId }: Listed) =>
    [transactionId, productId ?? ''].some((id) => {
      const noticedAt = anomalies.get(anomalyId('money_unmatched', account, id))
      // guard: a refund or dispute that no look-up finds is looked for again, because the list may be ahead of it
      return noticedAt !== undefined && (type === 'payment' || ageMs(noticedAt, nowMs) >= aheadMaxMs)
    })
  const factsOf = (row: Listed): RowFacts => {
    const { type, transactionId, productId, currency } = row
    const report = reports.get((type === 'refund' ? listedId : chargebackId)(transactionId))
    return {
      isOwned: isOwned(row),
      isCounted: owned.has(productId ?? '') || anomalies.has(anomalyId('paid_twice', account, productId ?? '')),
      isRecordedUnmatched: isUnmatched(row),
      doubt: reports.get(voidId(transactionId))?.status,
      chargeDoubt: reports.get(voidId(productId ?? ''))?.status,
      isRefundKnown: reports.has(productId ?? '') || reports.has(voidId(productId ?? '')),
      report,
      objectStatus: reports.get(report?.objectId ?? '')?.status,
      isOwnCurrency: currency === countryBy('account', account).currency,
    }
  }
  return new Set(rows.filter((row) => isRowDone(row, factsOf(row))))
}

async function receiveRow(context: Context, account: ProviderAccount, row: Listed): Promise<void> {
  if (row.type === 'payment') await receivePaymentRow(context, account, row)
  if (row.type === 'refund') await receiveRefundRow(context, account, row)
  if (row.type === 'chargeback') await receiveChargebackRow(context, account, row)
  failpoint('payments:row-of-list-received')
}

/** Longest time in ms for which a row of a refund or dispute is ahead of what it names. The list is read several times in it. */
const aheadMaxMs = 86_400_000

/** Time for which one of our payments may be missing or contradicted at the provider before an alert, in ms. */
const doubtMaxMs = 1_800_000

async function receivePaymentRow(context: Context, account: ProviderAccount, row: Listed) {
  const { provider, database, clock } = context
  const { productId, transactionId } = row
  const doubt = doubtOf(row)
  if (doubt) {
    const about = { account, id: voidId(transactionId), status: doubt }
    await database.transaction((tx) => receiveDoubt(tx, context, productId ?? '', about))
    return
  }
  if (row.status !== 'succeeded') return
  // The list also contains the account's other products, whose ids the payment lookup refuses.
  const charge = productId ? await provider.findCharge(account, productId).catch(noneOfItsForm) : undefined
  const fetched = await withRate(context, charge)
  const owner = await ownerOf(context, account, row)
  // The list can be ahead of the payment's own endpoint ("not found", "failed"); the row is then received
  // again at the next reading.
  if (fetched?.status !== 'succeeded') {
    const found = owner?.checkoutId ? await fetchCheckout(context, account, owner.checkoutId) : undefined
    await database.transaction(async (tx) => {
      if (fetched) await receiveCharge(tx, context, fetched)
      if (found?.fetched?.status === 'succeeded') return receiveCheckout(tx, context, account, found)
      if (!owner && !fetched) return recordUnmatched(tx, context, account, row)
      const isOld = owner && clock() - owner.createdAt.getTime() > doubtMaxMs
      if (isOld)
        await raiseAlert(tx, context, 'charge_doubtful', {
          account,
          object: transactionId,
          paymentId: owner.id,
        })
    })
    return
  }
  await database.transaction(async (tx) => {
    await bookMatchedRow(tx, row)
    await receiveCharge(tx, context, fetched)
    await endDoubt(tx, context, voidId(transactionId))
  })
}

async function receiveRefundRow(context: Context, account: ProviderAccount, row: Listed) {
  const { database, provider } = context
  const { productId } = row
  const refund = productId ? await provider.findRefund(account, productId).catch(noneOfItsForm) : undefined
  const { charge, isNamed } = await chargeOf(context, account, row, refund)
  const fetched = await withRate(context, charge)
  if (!fetched) return recordMissing(context, account, row)
  // A row without an id of its own names no refund, so all refunds of its payment are read instead.
  const named = refund ? [refund] : await listRefundsOf(provider, fetched.charge)
  const objectId = refund?.refundId ?? null
  await database.transaction(async (tx) => {
    if (!isNamed && (await isKnownOfOther(tx, row, fetched))) return
    await bookMatchedRow(tx, row)
    if (!isNamed) await recordAmbiguous(tx, context, account, { row, fetched })
    for (const one of named ?? []) await receiveRefund(tx, context, one, fetched)
    // The row of a refund that we ordered may carry a reference other than ours.
    const ordered = refund && (await isOrdered(tx, refund)) ? { origin: 'ordered' as const } : {}
    const report = { ...reportOf(row, 'refund'), objectId, ...ordered }
    await receiveRefund(tx, context, report, fetched)
    await endDoubt(tx, context, voidId(row.transactionId))
    // The row and the refund contradict each other. An operator decides which is right; until then the money
    // counts as gone.
    if (refund?.status === 'succeeded' && statusOf[row.status] === 'dead')
      await raiseAlert(tx, context, 'status_unknown', { account, object: row.transactionId })
  })
}

async function receiveChargebackRow(context: Context, account: ProviderAccount, row: Listed) {
  const { charge, isNamed, dispute } = await chargeOf(context, account, row)
  const fetched = await withRate(context, charge)
  if (!fetched) return recordMissing(context, account, row)
  const named = isNamed ? row.productId : null
  const known = await fetchDisputes(context, account, fetched.charge.paymentId, named)
  const isNew = dispute && !known.some((one) => one.dispute.disputeId === dispute.disputeId)
  const disputes = isNew ? [...known, { dispute, isNamed }] : known
  await context.database.transaction(async (tx) => {
    if (!isNamed && (await isKnownOfOther(tx, row, fetched))) return
    await bookMatchedRow(tx, row)
    if (!isNamed) await recordAmbiguous(tx, context, account, { row, fetched })
    for (const one of disputes) await receiveDispute(tx, context, { ...one, fetched })
    await receiveRefund(tx, context, reportOf(row, 'chargeback'), fetched)
    await endDoubt(tx, context, voidId(row.transactionId))
    if (row.status === 'reversed')
      await recordAnomaly(tx, {
        kind: 'dispute_won',
        account,
        object: row.transactionId,
        paymentId: fetched.match?.id,
        currency: row.currency,
        amountMinor: row.amountMinor,
      })
  })
}

/** Returns the report of a row, whose status may differ from that of the refund it names. */
const reportOf = (row: Listed, origin: 'refund' | 'chargeback'): ReceivedRefund => ({
  refundId: (origin === 'refund' ? listedId : chargebackId)(row.transactionId),
  status: statusOf[row.status],
  paymentId: null,
  paymentRequestId: row.paymentRequestId,
  reference: row.reference,
  currency: row.currency ?? '',
  refundedMinor: row.amountMinor,
  // The row of a chargeback may name its dispute.
  ...(origin === 'chargeback' ? { origin, objectId: row.productId } : {}),
})

/**
 * Records a row whose charge cannot be fetched. If it may be about one of our payments, money may be on its
 * way back, so the hold must not end before the row is received.
 */
async function recordMissing(context: Context, account: ProviderAccount, row: Listed) {
  const owner = await ownerOf(context, account, row)
  await context.database.transaction(async (tx) => {
    if (!owner && row.status === 'succeeded') return recordUnmatched(tx, context, account, row)
    if (!owner) return
    const about = { account, object: row.transactionId }
    await raiseAlert(tx, context, 'charge_doubtful', { ...about, paymentId: owner.id })
    const id = voidId(row.transactionId)
    if (statusOf[row.status] === 'dead') return endDoubt(tx, context, id)
    if (owner.providerPaymentId === null) return
    await receiveDoubt(tx, context, owner.providerPaymentId, { account, id, status: 'unknown' })
  })
}

/** Receives the rows of one payment. Throws if an object that a row names cannot be fetched. */
export async function receiveRowsOf(
  context: Context,
  { id, account, providerPaymentId, paymentRequestId }: PaymentRow,
  rows: readonly Listed[],
): Promise<void> {
  const own = rows.filter(
    (row) =>
      (row.productId !== null && row.productId === providerPaymentId) ||
      (row.paymentRequestId !== null && row.paymentRequestId === paymentRequestId) ||
      paymentIdIn(row.reference) === id,
  )
  await receiveRows(paymentListing(context), account, own)
}

async function chargeOf(
  context: Context,
  account: ProviderAccount,
  row: Listed,
  refund?: FetchedRefund,
): Promise<{ charge: FetchedCharge | undefined; isNamed: boolean; dispute?: FetchedDispute }> {
  const { provider } = context
  const paymentRequestId = refund?.paymentRequestId ?? row.paymentRequestId
  const paymentId = row.type === 'chargeback' ? row.productId : refund?.paymentId
  const namedId = paymentId ?? (await chargeOfOrder(context, row))
  const named = await findRefundedCharge(provider, account, { paymentId: namedId, paymentRequestId })
  if (named) return { charge: named, isNamed: true }
  const known = await knownChargeOf(context, row)
  // guard: a refund or dispute that is not found for a moment stays with its payment
  if (known) return { charge: await provider.findCharge(account, known), isNamed: true }
  const dispute = row.type === 'chargeback' ? await findListedDispute(context, account, row) : undefined
  const disputed = dispute && (await findDisputed(context, account, dispute))
  // guard: a row leads to its payment through the dispute that it names
  if (disputed) return { ...disputed, dispute }
  const charge = await fetchChargeOf(context, await ownerOf(context, account, row))
  // guard: a refund of a payment that is not found yet does not count against another payment
  if (charge && isAnother(namedId, charge)) return { charge: undefined, isNamed: true }
  if (paymentRequestId === null) return { charge, isNamed: false }
  // A payment request that is not found yet may belong to another payment for the same promise.
  const isOfRequest = charge?.charge.paymentRequestId === paymentRequestId
  return { charge: isOfRequest ? charge : undefined, isNamed: true }
}

/** Finds the dispute that the row of a chargeback may name: its webhook may be lost. */
const findListedDispute = async ({ provider }: Context, account: ProviderAccount, { productId }: Listed) =>
  productId === null ? undefined : provider.findDispute(account, productId).catch(noneOfItsForm)

/** Returns the charge against which the refund or dispute that the row names was received before. */
async function knownChargeOf({ database }: Context, { productId }: Listed): Promise<string | undefined> {
  if (productId === null) return undefined
  const [known] = await database.read((db) => findReportsById(db, [productId]))
  if (!known || !isDispute(known) || isChargeNamed(known)) return known?.providerPaymentId
  // Our reference alone has led the dispute to the first of several charges.
  const payment = await database.read((db) => findPayment(db, known.paymentId))
  return payment && payment.overpaidMinor > 0n ? undefined : known.providerPaymentId
}

/**
 * Locks the payment, and returns true if the row, or what it names, was received against another charge while this reading of
 * it was under way. Our reference alone, which leads to the first charge of a payment, does not move it.
 */
async function isKnownOfOther(
  tx: Tx,
  { type, transactionId, productId }: Listed,
  { charge }: Pick<PricedCharge, 'charge'>,
): Promise<boolean> {
  const payment = await matchPayment(tx, { charge })
  if (payment) await lockPayment(tx, payment.id)
  const ofRow = (type === 'refund' ? listedId : chargebackId)(transactionId)
  const known = await findReportsById(tx, [ofRow, ...(productId === null ? [] : [productId])])
  // guard: a slow reading of the list does not move a refund or dispute to the first charge
  return known.some(({ providerPaymentId }) => providerPaymentId !== charge.paymentId)
}

/** Returns the charge of the refund order that the row's reference names, or null. */
async function chargeOfOrder({ database }: Context, { reference }: Listed): Promise<string | null> {
  const id = isOrderedByUs(reference) ? paymentIdIn(reference) : undefined
  const orders = id ? await database.read((db) => findOrders(db, id)) : []
  return orders.find((order) => order.reference === reference)?.providerPaymentId ?? null
}

/** Alerts if the reference of a row leads to several charges; the row then counts against the first. */
async function recordAmbiguous(
  tx: Tx,
  context: Context,
  account: ProviderAccount,
  { row, fetched }: { row: Listed; fetched: Pick<PricedCharge, 'match'> },
) {
  const paymentId = fetched.match?.id
  if (!paymentId || (await findSeconds(tx, paymentId)).length === 0) return
  await raiseAlert(tx, context, 'charge_ambiguous', {
    account,
    object: row.transactionId,
    paymentId,
  })
}

async function ownerOf(
  { database }: Context,
  account: ProviderAccount,
  { productId, paymentRequestId, reference }: Listed,
): Promise<PaymentRow | undefined> {
  const ids = { account, paymentId: productId ?? '', paymentRequestId }
  const byIds = productId || paymentRequestId ? await database.read((db) => findByProviderIds(db, ids)) : undefined
  if (byIds) return byIds
  const id = paymentIdIn(reference)
  const byReference = id && (await database.read((db) => findPayment(db, id)))
  return byReference && byReference.account === account ? byReference : undefined
}

async function recordUnmatched(tx: Tx, { log }: Context, account: ProviderAccount, row: Listed) {
  const { transactionId, type, currency, amountMinor } = row
  const anomaly = { account, object: transactionId, currency, amountMinor }
  if (await recordAnomaly(tx, { kind: 'money_unmatched', ...anomaly })) {
    // Money that came in without a reference of our form may be the account owner's own business, so it raises no alert.
    const isOurs = paymentIdIn(row.reference) !== undefined || type !== 'payment'
    const fields = { transactionId, type, account }
    log[isOurs ? 'alarm' : 'warn'](fields, 'provider transaction does not match any payment')
  }
  const minor = type === 'payment' || amountMinor === null ? amountMinor : -amountMinor
  await bookListed(tx, { ...row, account, currency, minor })
}
