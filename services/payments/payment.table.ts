import { and, inArray, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { boolean, check, index, integer, text, unique, uniqueIndex } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, changedAt, quotedList, timestamps } from '#platform/db/columns'
import { limitedStates } from '#platform/metrics/state-limits'
import { pairs, providerAccounts } from '#shared/money/pair'
import { limits, type PaymentState, paymentKinds, paymentStates, reasons, statesWith } from './payment'
import { schema } from './schema.store'

type ExpectedColumns = Record<'state' | 'held' | 'holdEndedAt', SQLWrapper>
type OpenColumns = ExpectedColumns & { readonly reason: SQLWrapper }

const expectedWords = ({ state, held, holdEndedAt }: ExpectedColumns): SQL =>
  sql`${state} in (${quotedList(statesWith('open'))}) or (${state} = 'repaid' and ${held} and ${holdEndedAt} is null)`
/** Selects payments whose money is expected or on hold, without late ones. */
export const isExpected = (columns: ExpectedColumns): SQL => sql`(${expectedWords(columns)})`

/** Selects open payments, late ones included. The partial index uses the same expression. */
export const isOpen = (columns: OpenColumns): SQL =>
  sql`(${expectedWords(columns)} or ${columns.reason} = 'awaiting_rate')`

/** Selects payments whose wallet is frozen because money of them may be going back and no hold keeps it. */
export const isLostHold = ({ lostHold }: Record<'lostHold', SQLWrapper>) => sql`${lostHold} = 'frozen'`

export const mayLackCharge: readonly PaymentState[] = [...statesWith('unpaid'), 'review']

/** Payments: one promise per quote, and its progress. */
export const payments = schema.table(
  'payments',
  {
    id: text('id').primaryKey(),
    kind: text('kind', { enum: paymentKinds }).notNull(),
    state: text('state').$type<PaymentState>().notNull(),
    wallet: addressColumn('wallet').notNull(),
    pair: text('pair', { enum: pairs }).notNull(),
    currency: text('currency', { enum: ['IDR', 'MYR'] }).notNull(),
    rateMinorPerUsd: amountColumn('rate_minor_per_usd').notNull(),
    /** Spread of the quote, in basis points of the rate before it. */
    spreadBps: integer('spread_bps').notNull().default(0),
    fiatMinor: amountColumn('fiat_minor').notNull(),
    ausdMicro: amountColumn('ausd_micro').notNull(),
    /**
     * AUSD that is, or may become, collateral: all of a top-up; of a settlement, the part of the debt that
     * was not ripe or that its money exceeded. `topupAt` is the time at which the limits admitted it.
     */
    topupMicro: amountColumn('topup_micro').notNull().default(sql`0`),
    topupAt: at('topup_at').notNull().defaultNow(),
    /** Fees by channel that the quote of a top-up promised; null without fees. */
    topupFees: text('topup_fees'),
    /** Part of `fiatMinor` that is our fee, known with the channel that was charged. `ausdMicro` is then the value of the rest. */
    feeMinor: amountColumn('fee_minor').notNull().default(sql`0`),
    method: text('method', { enum: ['bank', 'card', 'qr'] }),
    /**
     * Rate applied to late money; null if the payment was paid as promised. `promisedMicro` is the original promise, before a
     * fee, if `ausdMicro` differs from it.
     */
    lateRateMinorPerUsd: amountColumn('late_rate_minor_per_usd'),
    promisedMicro: amountColumn('promised_micro'),
    quoteId: text('quote_id').notNull(),
    requestFingerprint: text('request_fingerprint').notNull(),
    /** Id of the request that opened the payment, which all later logs and messages carry. */
    requestId: text('request_id'),
    account: text('account', { enum: providerAccounts }).notNull(),
    checkoutId: text('checkout_id'),
    checkoutUrl: text('checkout_url'),
    expiresAt: at('expires_at'),
    /** End of the lease of the instance that is opening the checkout. */
    openingUntil: at('opening_until'),
    paymentRequestId: text('payment_request_id'),
    providerPaymentId: text('provider_payment_id'),
    channel: text('channel'),
    /** Bank or wallet of the payer, and the payment's reference on the payer's own receipt; null if the provider names none. */
    issuer: text('issuer'),
    bankReceipt: text('bank_receipt'),
    held: boolean('held'),
    paidMinor: amountColumn('paid_minor'),
    paidAt: at('paid_at'),
    /** Number of the current chain ref: 0 at first, then one more each time the payment is applied again. */
    refSequence: integer('ref_sequence').notNull().default(0),
    onchainMicro: amountColumn('onchain_micro').notNull().default(sql`0`),
    leftMicro: amountColumn('left_micro').notNull().default(sql`0`),
    recoveredMicro: amountColumn('recovered_micro').notNull().default(sql`0`),
    writtenOffMicro: amountColumn('written_off_micro').notNull().default(sql`0`),
    creditedAt: at('credited_at'),
    /** Time of the last clean refund check within the margin before the hold ends. */
    refundsCheckedAt: at('refunds_checked_at'),
    holdEndedAt: at('hold_ended_at'),
    /** Time of the first extension of the present hold. */
    extendedAt: at('extended_at'),
    /**
     * Set while money of the payment may be going back and no hold keeps it: the wallet is frozen, or an operator has
     * cleared it all the same.
     */
    lostHold: text('lost_hold', { enum: ['frozen', 'cleared'] }),
    refundedMinor: amountColumn('refunded_minor').notNull().default(sql`0`),
    refundAppliedMinor: amountColumn('refund_applied_minor').notNull().default(sql`0`),
    overpaidMinor: amountColumn('overpaid_minor').notNull().default(sql`0`),
    overpaidRefundedMinor: amountColumn('overpaid_refunded_minor').notNull().default(sql`0`),
    reason: text('reason', { enum: reasons }),
    txHash: text('tx_hash'),
    /** Time of the next check; null means never. `checks` is the number of checks in this state. */
    nextCheckAt: at('next_check_at'),
    checks: integer('checks').notNull().default(0),
    ...timestamps(),
    changedAt: changedAt(),
  },
  (table) => [
    unique('payments_quote').on(table.quoteId),
    unique('payments_checkout').on(table.checkoutId),
    unique('payments_provider_payment').on(table.providerPaymentId),
    index('payments_next_check').on(table.nextCheckAt).where(sql`${table.nextCheckAt} is not null`),
    index('payments_changed').on(table.changedAt),
    index('payments_open_of_wallet').on(table.wallet).where(isOpen(table)),
    index('payments_topups_of_wallet').on(table.wallet, table.topupAt).where(sql`${table.topupMicro} > 0`),
    index('payments_created').on(table.createdAt),
    index('payments_credited').on(table.creditedAt),
    index('payments_activity').on(table.wallet, table.createdAt, table.id),
    index('payments_request').on(table.paymentRequestId),
    index('payments_lost_hold').on(table.wallet).where(isLostHold(table)),
    // The index backs up the wallet lock: two open checkouts could charge one debt twice. A second settlement
    // may be `opening`, to replace the open one.
    uniqueIndex('payments_open_settlement')
      .on(table.wallet, table.state)
      .where(sql`${table.kind} = 'settlement' and ${table.state} in ('opening', 'awaiting_payment')`),
    check('payments_kind', sql`${table.kind} in (${quotedList(paymentKinds)})`),
    check('payments_state', sql`${table.state} in (${quotedList(paymentStates)})`),
    check('payments_pair', sql`${table.pair} = 'USD/' || ${table.currency}`),
    check('payments_account', sql`(${table.currency}, ${table.account}) in (('IDR', 'ID'), ('MYR', 'MY'))`),
    check('payments_amounts', sql`${table.fiatMinor} > 0 and ${table.ausdMicro} > 0 and ${table.rateMinorPerUsd} > 0`),
    check('payments_fee', sql`${table.feeMinor} >= 0 and ${table.feeMinor} < ${table.fiatMinor}`),
    check('payments_back', sql`${table.refundedMinor} >= 0 and ${table.overpaidMinor} >= 0`),
    check(
      'payments_shares',
      sql`${table.onchainMicro} >= 0 and ${table.recoveredMicro} >= 0 and ${table.writtenOffMicro} >= 0 and ${table.onchainMicro} + ${table.recoveredMicro} <= ${table.ausdMicro}`,
    ),
    check('payments_awaiting', sql`${table.state} <> 'awaiting_payment' or ${table.checkoutUrl} is not null`),
    check(
      'payments_evidence',
      sql`${table.state} in (${quotedList(mayLackCharge)}) or ${table.providerPaymentId} is not null`,
    ),
  ],
)
export type PaymentRow = typeof payments.$inferSelect
export type NewPayment = typeof payments.$inferInsert

/**
 * Selects payments that wait for something. Late money waits only without a rate, and a repayment only while
 * it is on hold.
 */
export const awaited = and(isOpen(payments), inArray(payments.state, limitedStates(limits)))!

export const waitsSince = sql`case when ${payments.state} = 'awaiting_payment'
  then greatest(${payments.updatedAt}, ${payments.expiresAt}) else ${payments.updatedAt} end`
