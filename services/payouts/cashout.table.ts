import { and, inArray, not, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import {
  boolean,
  check,
  index,
  integer,
  jsonb,
  type PgInsertValue,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, changedAt, quotedList, timestamps } from '#platform/db/columns'
import { limitedStates } from '#platform/metrics/state-limits'
import { type CashoutRequest, type CashoutState, cashoutStates, inFlightStates, limits, type Reason } from './cashout'
import type { PayoutApi } from './provider'
import { schema } from './schema.store'

/** Selects open cash-outs. The partial index uses the same expression. */
export const isOpen = ({ state }: { state: SQLWrapper }): SQL =>
  sql`${state} in (${quotedList(['opening', ...inFlightStates])})`
/** Selects cash-outs at a rate of a closed market. The partial index uses the same expression. */
export const isOfClosedMarket = ({ spreadBps }: { spreadBps: SQLWrapper }): SQL => sql`${spreadBps} < 0`
/** Selects expired cash-outs, whose signed transfers can serve other cash-outs. */
export const isExpired = ({ state }: { state: SQLWrapper }): SQL => sql`${state} = 'expired'`

export const cashouts = schema.table(
  'payouts',
  {
    /** Id derived from the quote id; it is the reference and the idempotency key at the provider. */
    id: text('id').primaryKey(),
    wallet: addressColumn('wallet').notNull(),
    state: text('state').$type<CashoutState>().notNull(),
    rateMinorPerUsd: amountColumn('rate_minor_per_usd').notNull(),
    /**
     * Spread in the payee's favour, in basis points of the rate before it. It is negative exactly for cash-outs of a closed
     * market.
     */
    spreadBps: integer('spread_bps').notNull().default(0),
    ausdMicro: amountColumn('ausd_micro').notNull(),
    /** Rupiah that the payee gets. `feeMinor` are those kept as our fee: together they are the worth of the AUSD. */
    fiatMinor: amountColumn('fiat_minor').notNull(),
    feeMinor: amountColumn('fee_minor').notNull().default(sql`0`),
    quoteId: text('quote_id').notNull(),
    /** Hash of purpose, wallet and body, by which another request with the same quote is refused. */
    requestFingerprint: text('request_fingerprint').notNull(),
    requestId: text('request_id'),
    authorizer: addressColumn('authorizer').notNull(),
    authorizationNonce: text('authorization_nonce').notNull(),
    authorization: jsonb('authorization').$type<CashoutRequest['authorization']>().notNull(),
    /** Only code of the wallet accepts the signature, and may refuse the transfer until it is final. */
    signedByContract: boolean('signed_by_contract').notNull().default(false),
    channelCode: text('channel_code').notNull(),
    /** Encrypted account number and holder name; empty under the key id `erased`. */
    bankDetails: text('bank_details').notNull(),
    bankDetailsKeyId: text('bank_details_key_id').notNull(),
    /** Keyed hash of the bank account; null once erased. */
    accountMark: text('account_mark'),
    providerPayoutId: text('provider_payout_id'),
    providerStatus: text('provider_status'),
    failureCode: text('failure_code'),
    reason: text('reason').$type<Reason>(),
    /** An operator keeps the cash-out from being paid. `holdRevision` counts the changes of it. */
    heldByOperator: boolean('held_by_operator').notNull().default(false),
    holdRevision: integer('hold_revision').notNull().default(0),
    takeTxHash: text('take_tx_hash'),
    returnTxHash: text('return_tx_hash'),
    /** Number of attempts to pay; each is committed before the provider is called. */
    attempts: integer('attempts').notNull().default(0),
    attemptedAt: at('attempted_at'),
    payoutApi: text('payout_api').$type<PayoutApi>(),
    paidAt: at('paid_at'),
    /** Time of the next check; null means never. `checks` counts the checks in this state. */
    nextCheckAt: at('next_check_at'),
    checks: integer('checks').notNull().default(0),
    ...timestamps(),
    changedAt: changedAt(),
  },
  (table) => [
    unique('payouts_quote').on(table.quoteId),
    uniqueIndex('payouts_authorization')
      .on(table.authorizer, table.authorizationNonce)
      .where(not(isExpired(table))),
    unique('payouts_provider_payout').on(table.providerPayoutId),
    index('payouts_next_check').on(table.nextCheckAt).where(sql`${table.nextCheckAt} is not null`),
    index('payouts_changed').on(table.changedAt),
    index('payouts_open_of_wallet').on(table.wallet).where(isOpen(table)),
    index('payouts_of_closed_market').on(table.createdAt).where(isOfClosedMarket(table)),
    index('payouts_of_account').on(table.accountMark, table.createdAt),
    index('payouts_with_details').on(table.updatedAt, table.id).where(sql`${table.bankDetailsKeyId} <> 'erased'`),
    index('payouts_activity').on(table.wallet, table.createdAt, table.id),
    check('payouts_state', sql`${table.state} in (${quotedList(cashoutStates)})`),
    check('payouts_amounts', sql`${table.ausdMicro} > 0 and ${table.fiatMinor} > 0`),
    check('payouts_attempted', sql`${table.attempts} = 0 or ${table.attemptedAt} is not null`),
  ],
)
export type Cashout = typeof cashouts.$inferSelect
export type NewCashout = PgInsertValue<typeof cashouts>

export const awaited = and(isOpen(cashouts), inArray(cashouts.state, limitedStates(limits)))!

/**
 * Nothing is set aside for these: the wallet's code decides whether the AUSD ever arrives. `cashouts` is named by its
 * columns, because other schemas read the predicate.
 */
export const isUncertain = sql`(${cashouts.signedByContract} and ${cashouts.state} in ('opening', 'taking'))`

/** The AUSD is in the treasury, or about to arrive. */
export const owesAusd = sql`${cashouts.state} in (${quotedList(inFlightStates)}) and not ${isUncertain}`

/** The rupiah is not paid and may have to be. */
export const owesFiat = sql`${cashouts.state} in ('opening', 'taking', 'taken', 'paying') and not ${isUncertain}`
