import type { Tx } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import { type ProviderAccount, providerAccounts } from '#shared/money/pair'
import {
  type Listing,
  type ListingSettings,
  type Once,
  startReadingList,
} from '#shared/provider/listing'
import { noneOfItsForm } from '#shared/provider/problem'
import type { Listed } from '#shared/provider/transactions'
import { bookChange, bookListed } from './books/book'
import type { Context } from './context'
import { paymentIdFrom } from './payment'
import {
  findByProviderIds,
  findKnown,
  findPayment,
  firstPaymentAt,
  lockPayment,
  notePayment,
  type PaymentRow,
} from './payment.store'
import type { FetchedCharge, FetchedRefund } from './provider'
import { findRefunded as findRefundedCharge } from './providers/look-up'
import {
  fetchCheckout,
  type ReceivedRefund,
  receiveCharge,
  receiveCheckout,
  receiveRefund,
  withRate,
} from './receive'
import { findRefunded, isRefunded } from './refunds/refund.store'
import { inbox, listings, recordAnomaly } from './schema.store'

// The provider's transaction list shows our money even if a webhook was lost. Each row names an
// object that is fetched and received as for a webhook. Chargebacks have no endpoint of their own:
// the list row, read with our own key, is the evidence.

/** Reads the list at the configured intervals, until disposed. */
export const startListing = (context: Context, settings: ListingSettings) =>
  startReadingList(paymentListing(context), settings, context.poke)

/** Returns the listing of this service: payments, refunds and chargebacks of both accounts. */
export function paymentListing(context: Context): Listing {
  // Cached once there is one: no older payment can appear later.
  let first: Date | null = null
  return {
    ...{ database: context.database, clock: context.clock, log: context.log },
    ...{ listings, inbox, consumer: 'payments-list', accounts: providerAccounts },
    list: (account, updatedFrom) => context.provider.listTransactions(account, updatedFrom),
    oldest: async () => {
      first ??= await context.database.read(firstPaymentAt)
      return first
    },
    counted: (account, rows) => countedOf(context, account, rows),
    receive: (account, row, once) => receiveRow(context, account, row, once),
  }
}

async function receiveRow(
  context: Context,
  account: ProviderAccount,
  row: Listed,
  once: Once,
): Promise<void> {
  if (row.type === 'chargeback' && row.status === 'reversed')
    return noteWon(context, account, row, once)
  if (row.status !== 'succeeded') return
  if (row.type === 'payment') await receivePaymentRow(context, account, row, once)
  if (row.type === 'refund') await receiveRefundRow(context, account, row, once)
  if (row.type === 'chargeback') await receiveChargebackRow(context, account, row, once)
  failpoint('payments:row-of-list-received')
}

/** Returns the rows of payments already counted, for example because of a webhook. */
async function countedOf(
  { database }: Context,
  account: ProviderAccount,
  rows: readonly Listed[],
): Promise<Set<Listed>> {
  const paid = rows.filter(({ type, status }) => type === 'payment' && status === 'succeeded')
  const ids = paid.flatMap(({ productId }) => productId ?? [])
  if (ids.length === 0) return new Set()
  const known = await database.read((db) => findKnown(db, account, ids))
  return new Set(paid.filter(({ productId }) => productId && known.has(productId)))
}

async function receivePaymentRow(
  context: Context,
  account: ProviderAccount,
  row: Listed,
  once: Once,
) {
  const { provider } = context
  const { productId } = row
  // The list also has the account's other products, whose ids the payment lookup refuses.
  const charge = productId
    ? await provider.findCharge(account, productId).catch(noneOfItsForm)
    : undefined
  const fetched = await withRate(context, charge)
  if (fetched) {
    // The list can show a payment before its own endpoint does; it is picked up on the next poll.
    if (fetched.status === 'pending') return
    return once((tx) => receiveCharge(tx, context, fetched))
  }
  const checkoutId = (await ownerOf(context, account, row))?.checkoutId
  const found = checkoutId ? await fetchCheckout(context, account, checkoutId) : {}
  await once(async (tx) => {
    if (found.fetched) await receiveCheckout(tx, context, account, found)
    else await noteUnmatched(tx, context, account, row)
  })
}

async function receiveRefundRow(
  context: Context,
  account: ProviderAccount,
  row: Listed,
  once: Once,
) {
  const { database, provider } = context
  const { productId } = row
  if (productId && (await database.read((db) => isRefunded(db, productId))))
    return once(async () => {})
  const refund = productId
    ? await provider.findRefund(account, productId).catch(noneOfItsForm)
    : undefined
  const charge = await withRate(context, await chargeOf(context, account, row, refund))
  await once(async (tx) => {
    if (charge) await receiveRefund(tx, context, refund ?? refundFrom(row, 'refund'), charge)
    else await noteUnmatched(tx, context, account, row)
  })
}

async function receiveChargebackRow(
  context: Context,
  account: ProviderAccount,
  row: Listed,
  once: Once,
) {
  const charge = await withRate(context, await chargeOf(context, account, row))
  await once(async (tx) => {
    if (charge) await receiveRefund(tx, context, refundFrom(row, 'chargeback'), charge)
    else await noteUnmatched(tx, context, account, row)
  })
}

const chargebackIdOf = ({ transactionId }: Listed) => `chargeback:${transactionId}`

/**
 * Records a won dispute, which returns the money of a chargeback to us, and alerts the operator who
 * can clear the wallet. A chargeback that was never counted changed nothing here.
 */
const noteWon = ({ log }: Context, account: ProviderAccount, row: Listed, once: Once) =>
  once(async (tx) => {
    const { transactionId: object, reference } = row
    const fields = { transactionId: object, reference, alarm: true }
    log.error(fields, 'chargeback reversed, wallet can be cleared')
    const chargeback = await findRefunded(tx, chargebackIdOf(row))
    const payment = chargeback && (await lockPayment(tx, chargeback.paymentId))
    if (!payment) return
    const { id, currency } = payment
    const { refundedMinor: amountMinor } = chargeback
    const anomaly = { account, object, currency, amountMinor, paymentId: id }
    if (!(await recordAnomaly(tx, { kind: 'dispute_won', ...anomaly }))) return
    const set = { wonMinor: payment.wonMinor + amountMinor }
    await notePayment(tx, id, set)
    await bookChange(tx, payment, { ...payment, ...set }, 'dispute won')
  })

/** Builds a refund from its list row, if it cannot be fetched by itself. */
const refundFrom = (row: Listed, origin: 'refund' | 'chargeback'): ReceivedRefund => ({
  refundId: origin === 'refund' ? (row.productId ?? row.transactionId) : chargebackIdOf(row),
  status: 'succeeded',
  paymentId: null,
  paymentRequestId: row.paymentRequestId,
  reference: row.reference,
  currency: row.currency ?? '',
  refundedMinor: row.amountMinor,
  origin,
})

/** Fetches the charge of a refund or chargeback with our own key. */
async function chargeOf(
  context: Context,
  account: ProviderAccount,
  row: Listed,
  refund?: FetchedRefund,
): Promise<FetchedCharge | undefined> {
  const { provider } = context
  const named = await findRefundedCharge(provider, account, {
    paymentId: refund?.paymentId ?? null,
    paymentRequestId: refund?.paymentRequestId ?? row.paymentRequestId,
  })
  if (named) return named
  const owner = await ownerOf(context, account, row)
  const known = owner?.providerPaymentId
  if (known) return provider.findCharge(account, known)
  if (owner?.checkoutId) return (await fetchCheckout(context, account, owner.checkoutId)).fetched
  return undefined
}

/** Finds the payment of a row by the provider's ids, else by our reference. */
async function ownerOf(
  { database }: Context,
  account: ProviderAccount,
  { productId, paymentRequestId, reference }: Listed,
): Promise<PaymentRow | undefined> {
  const ids = { account, paymentId: productId ?? '', paymentRequestId }
  const byIds =
    productId || paymentRequestId
      ? await database.read((db) => findByProviderIds(db, ids))
      : undefined
  if (byIds) return byIds
  const id = reference ? paymentIdFrom(reference) : undefined
  const byReference = id && (await database.read((db) => findPayment(db, id)))
  return byReference && byReference.account === account ? byReference : undefined
}

async function noteUnmatched(tx: Tx, { log }: Context, account: ProviderAccount, row: Listed) {
  const { transactionId, type, currency, amountMinor } = row
  const anomaly = { account, object: transactionId, currency, amountMinor }
  if (await recordAnomaly(tx, { kind: 'money_unmatched', ...anomaly })) {
    // Without a reference of our form it may be the account owner's own business: no alert.
    const alarm = paymentIdFrom(row.reference ?? '') !== undefined || type === 'chargeback'
    const fields = { transactionId, type, account, alarm }
    log.warn(fields, 'provider transaction does not match any payment')
  }
  const minor = type === 'payment' || amountMinor === null ? amountMinor : -amountMinor
  await bookListed(tx, { transactionId, account, currency, minor })
}
