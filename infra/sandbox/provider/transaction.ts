import { type Account, businessIdOf, currencyOf, utcOffsetHoursOf } from '../account'
import { banks } from '../channels/bank'
import type { ChannelType } from '../channels/channel'
import { findChannel } from '../channels/channels'
import { type Context, nowMs } from '../context'
import { feeOf, ratesOf } from '../fee'
import { majorFromMinor } from '../money'
import type { Chargeback, OwnMove, Payment, Payout, Refund, TransactionStatus } from '../records'

export const channelCategories = [
  'BANK',
  'CARDS',
  'CARDLESS_CREDIT',
  'CASH',
  'DIRECT_DEBIT',
  'EWALLET',
  'PAYLATER',
  'QR_CODE',
  'RETAIL_OUTLET',
  'VIRTUAL_ACCOUNT',
  'XENPLATFORM',
  'OTHER',
] as const
type ChannelCategory = (typeof channelCategories)[number]

export type Transaction = {
  readonly id: string
  readonly account: Account
  readonly productId: string
  readonly type: 'PAYMENT' | 'REFUND' | 'CHARGEBACK' | 'DISBURSEMENT' | 'TOPUP' | 'WITHDRAWAL'
  /** Usually a `TransactionStatus`, but a control may set any text. */
  readonly status: string
  readonly category: ChannelCategory
  readonly channelCode: string
  readonly referenceId: string
  readonly accountIdentifier: string | null
  readonly amountMinor: bigint
  /** Currency of the row. If absent, it is the account's. */
  readonly currency?: string
  readonly productData: Record<string, unknown> | null
  /** Set if the row never has the id of its product. */
  readonly nameless?: true
  /** The money of a payment is in the balance. */
  readonly isSettled?: true
  /** Times in unix ms. */
  readonly createdMs: number
  readonly updatedMs: number
}

export function transactionsOf(context: Context, account: Account): Transaction[] {
  const { listDelayMs } = context.faults.api
  const rows = movedOf(context, account)
  const seenMs = nowMs(context) - listDelayMs
  const seen = listDelayMs === 0 ? rows : rows.flatMap((row) => asSeenAt(row, seenMs))
  return seen.map((row) => (settlesMs(row) <= seenMs ? settled(row) : row))
}

/** Returns the fees that the provider kept of movements which started by `byMs`. */
export function keptMinor(context: Context, account: Account, byMs: number): bigint {
  const rates = ratesOf(context)
  if (rates.every(({ bps }) => bps === 0)) return 0n
  return movedOf(context, account)
    .filter(({ createdMs }) => createdMs <= byMs)
    .map((row) => feeOf(rates, row))
    .filter(({ status }) => status === 'COMPLETED')
    .reduce((sum, { feeMinor, taxMinor }) => sum + feeMinor + taxMinor, 0n)
}

function movedOf({ book }: Context, account: Account): Transaction[] {
  const own = (record: { account: Account }) => record.account === account
  const paid = (payment: Payment) => own(payment) && payment.status === 'SUCCEEDED'
  const referenceOf = ({ paymentId }: Refund) => book.get('payments', paymentId)?.referenceId ?? ''
  return [
    ...book.all('payments').filter(paid).map(once(fromPayment)),
    ...book
      .all('refunds')
      .filter(own)
      .map(once((refund) => fromRefund(refund, referenceOf(refund)))),
    ...book.all('chargebacks').filter(own).map(once(fromChargeback)),
    ...book.all('payouts').filter(own).map(once(fromPayout)),
    ...book.all('ownMoves').filter(own).map(once(fromOwnMove)),
  ]
}

/** Rows by record, which is replaced and never mutated. */
const made = new WeakMap<object, Transaction>()
const once =
  <R extends object>(make: (record: R) => Transaction) =>
  (record: R): Transaction => {
    const row = made.get(record) ?? make(record)
    made.set(record, row)
    return row
  }

/** Returns a row as it is once the provider has added its money to the balance, which counts as a change of the row. */
function settled(row: Transaction): Transaction {
  return { ...row, isSettled: true, updatedMs: Math.max(row.updatedMs, settlesMs(row)) }
}

/**
 * Returns the time at which a payment is added to the balance, in unix ms: a virtual account at once, QRIS after two
 * days, every other channel after one, and from a weekend on Monday. Returns Infinity for what never is.
 */
export function settlesMs({ account, type, status, category, createdMs }: Transaction): number {
  if (type !== 'PAYMENT' || status !== 'SUCCESS') return Number.POSITIVE_INFINITY
  if (category === 'VIRTUAL_ACCOUNT') return createdMs
  const dueMs = createdMs + (category === 'QR_CODE' ? 2 : 1) * dayMs
  const weekday = new Date(dueMs + utcOffsetHoursOf[account] * hourMs).getUTCDay()
  return dueMs + ({ 0: 1, 6: 2 }[weekday] ?? 0) * dayMs
}

/** Returns a row as in the samples of the provider's reference. */
export function transactionBody(context: Context, row: Transaction): Record<string, unknown> {
  const currency = currencyOf[row.account]
  const amount = majorFromMinor(row.amountMinor, currency)
  const comesIn = row.type === 'PAYMENT' || row.type === 'TOPUP'
  const { feeMinor, taxMinor, status } = feeOf(ratesOf(context), row)
  const kept = status === 'COMPLETED' ? feeMinor + taxMinor : 0n
  const dueMs = settlesMs(row)
  const isDue = Number.isFinite(dueMs)
  const isSettled = row.isSettled === true || (row.type !== 'PAYMENT' && row.status === 'SUCCESS')
  return {
    id: row.id,
    product_id: row.productId,
    type: row.type,
    status: row.status,
    channel_category: row.category,
    channel_code: row.channelCode,
    reference_id: row.referenceId,
    account_identifier: row.accountIdentifier,
    currency: row.currency ?? currency,
    amount,
    net_amount: majorFromMinor(comesIn ? row.amountMinor - kept : row.amountMinor, currency),
    net_amount_currency: currency,
    cashflow: comesIn ? 'MONEY_IN' : 'MONEY_OUT',
    settlement_status: isSettled ? 'SETTLED' : isDue ? 'PENDING' : null,
    estimated_settlement_time: isDue ? new Date(dueMs).toISOString() : null,
    business_id: businessIdOf[row.account],
    created: new Date(row.createdMs).toISOString(),
    updated: new Date(row.updatedMs).toISOString(),
    fee: {
      xendit_fee: majorFromMinor(feeMinor, currency),
      value_added_tax: majorFromMinor(taxMinor, currency),
      xendit_withholding_tax: 0,
      third_party_withholding_tax: 0,
      status,
    },
    ...(row.productData && { product_data: row.productData }),
  }
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const fromPayment = (payment: Payment): Transaction => ({
  ...commonOf(payment),
  type: 'PAYMENT',
  status: payment.forced?.listed ?? 'SUCCESS',
  ...channelOf(payment),
  referenceId: payment.referenceId,
  amountMinor: payment.capturedMinor,
  productData: { capture_id: payment.captureId, payment_request_id: payment.requestId },
  createdMs: Date.parse(payment.capturedAt ?? payment.createdAt),
})

const fromRefund = (refund: Refund, referenceOfPayment: string): Transaction => ({
  ...commonOf(refund),
  type: 'REFUND',
  status: refund.forced?.listed ?? refundStatuses[refund.status],
  ...channelOf(refund),
  referenceId: refund.referenceId ?? referenceOfPayment,
  ...(refund.nameless && { nameless: refund.nameless }),
  amountMinor: refund.amountMinor,
})

const fromChargeback = (chargeback: Chargeback): Transaction => ({
  ...commonOf(chargeback),
  type: 'CHARGEBACK',
  status: chargeback.status,
  ...channelOf(chargeback),
  referenceId: chargeback.referenceId,
  amountMinor: chargeback.amountMinor,
  ...(chargeback.currency ? { currency: chargeback.currency } : {}),
  ...(chargeback.names === 'payment' ? { productId: chargeback.paymentId } : {}),
  ...(chargeback.names === 'dispute' && chargeback.disputeId ? { productId: chargeback.disputeId } : {}),
  ...(chargeback.names === 'request' ? { productData: { payment_request_id: chargeback.requestId } } : {}),
})

const fromPayout = (payout: Payout): Transaction => ({
  ...commonOf(payout),
  type: 'DISBURSEMENT',
  status: payout.forced?.listed ?? payoutStatuses[payout.status],
  category: banks.find(({ code }) => code === payout.channelCode)?.category ?? 'BANK',
  channelCode: payout.channelCode,
  referenceId: payout.referenceId,
  accountIdentifier: payout.accountNumber,
  amountMinor: payout.amountMinor,
})

const fromOwnMove = (move: OwnMove): Transaction => ({
  ...commonOf(move),
  type: move.amountMinor > 0n ? 'TOPUP' : 'WITHDRAWAL',
  status: 'SUCCESS',
  category: 'BANK',
  channelCode: 'BCA',
  referenceId: move.id,
  amountMinor: move.amountMinor > 0n ? move.amountMinor : -move.amountMinor,
})

type Product = {
  readonly id: string
  readonly account: Account
  readonly createdAt: string
  readonly updatedAt: string
}

/** Returns the fields that all rows have. The id is stable, because it is the UUID of the product's id. */
const commonOf = (product: Product) => ({
  id: `txn_${product.id.replace(/^[a-z]+-/, '')}`,
  account: product.account,
  productId: product.id,
  accountIdentifier: null,
  productData: null,
  createdMs: Date.parse(product.createdAt),
  updatedMs: Date.parse(product.updatedAt),
})

const refundStatuses: Record<Refund['status'], TransactionStatus> = {
  PENDING: 'PENDING',
  SUCCEEDED: 'SUCCESS',
  FAILED: 'FAILED',
}

const payoutStatuses: Record<Payout['status'], TransactionStatus> = {
  ACCEPTED: 'PENDING',
  REQUESTED: 'PENDING',
  SUCCEEDED: 'SUCCESS',
  FAILED: 'FAILED',
  REVERSED: 'REVERSED',
  CANCELLED: 'VOIDED',
  COMPLIANCE_REJECTED: 'FAILED',
}

const categories: Record<ChannelType, ChannelCategory> = {
  'BANK TRANSFER': 'VIRTUAL_ACCOUNT',
  'QR CODE': 'QR_CODE',
  CARDS: 'CARDS',
  EWALLET: 'EWALLET',
  'ONLINE BANKING': 'DIRECT_DEBIT',
  'ONLINE BANKING FOR COMPANIES': 'DIRECT_DEBIT',
  'OVER THE COUNTER': 'RETAIL_OUTLET',
  PAYLATER: 'PAYLATER',
}

/** Returns channel and category. The list has its own codes: `ID_SHOPEEPAY`, and `BNI` for a virtual account. */
function channelOf({ account, channelCode }: { account: Account; channelCode: string }) {
  const type = findChannel(account, channelCode)?.type
  const category: ChannelCategory = type ? categories[type] : 'OTHER'
  if (category === 'EWALLET') return { category, channelCode: `${account}_${channelCode}` }
  return { category, channelCode: channelCode.replace(/_VIRTUAL_ACCOUNT$/, '') }
}

/** Returns the row as a delayed list has it: absent, in its earlier state, or as it is. */
function asSeenAt(row: Transaction, seenMs: number): Transaction[] {
  if (row.createdMs > seenMs) return []
  if (row.updatedMs <= seenMs) return [row]
  const status = row.status === 'REVERSED' ? 'SUCCESS' : 'PENDING'
  return [{ ...row, status, updatedMs: row.createdMs }]
}
