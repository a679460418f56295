import {
  and,
  desc,
  eq,
  getTableColumns,
  inArray,
  isNull,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import { boolean, check, index, integer, text, unique, uniqueIndex } from 'drizzle-orm/pg-core'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import {
  addressColumn,
  amountColumn,
  at,
  changedAt,
  fromNow,
  isOneOf,
  quotedList,
  timestamps,
} from '#platform/db/columns'
import {
  type Beside,
  built,
  first,
  keysOf,
  perKeys,
  placeholders,
  rowReader,
  withBeside,
} from '#platform/db/compiled-query'
import { lockNamed, lockOf } from '#platform/db/lock'
import type { Db, Tx } from '#platform/db/open'
import { pairs, providerAccounts } from '#shared/money/pair'
import { type PaymentState, paymentKinds, paymentStates, reasons } from './payment'
import { schema } from './schema.store'

type ExpectedColumns = Record<'state' | 'held' | 'holdEndedAt', SQLWrapper>
type OpenColumns = ExpectedColumns & { readonly reason: SQLWrapper }

const expectedWords = ({ state, held, holdEndedAt }: ExpectedColumns): SQL =>
  sql`${state} in ('opening', 'awaiting_payment', 'paid', 'held', 'revoking', 'review', 'refunding') or (${state} = 'repaid' and ${held} and ${holdEndedAt} is null)`
/** Condition of payments in progress, without late ones: those of which money is expected or on hold. */
export const isExpected = (columns: ExpectedColumns): SQL => sql`(${expectedWords(columns)})`

/**
 * Condition of open payments, those in review included; the partial index uses the same expression.
 */
export const isOpen = (columns: OpenColumns): SQL =>
  sql`(${expectedWords(columns)} or ${columns.reason} = 'awaiting_rate')`

/** Condition of payments whose wallet is frozen because their hold could not be kept. */
export const isLostHold = ({
  frozenAt,
  holdEndedAt,
}: Record<'frozenAt' | 'holdEndedAt', SQLWrapper>) =>
  sql`${frozenAt} is not null and ${holdEndedAt} is null`

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
    /** Our spread, in basis points of the rate before it. */
    spreadBps: integer('spread_bps').notNull().default(0),
    fiatMinor: amountColumn('fiat_minor').notNull(),
    ausdMicro: amountColumn('ausd_micro').notNull(),
    /**
     * Part of it that is, or may become, collateral, and when the limits of top-ups admitted it:
     * all of a top-up; of a settlement, the debt that was not ripe or that its money exceeded.
     */
    topupMicro: amountColumn('topup_micro').notNull().default(sql`0`),
    topupAt: at('topup_at').notNull().defaultNow(),
    method: text('method', { enum: ['bank', 'card', 'qr'] }),
    /** Rate applied to late money and the original promise; null if paid as promised. */
    lateRateMinorPerUsd: amountColumn('late_rate_minor_per_usd'),
    promisedMicro: amountColumn('promised_micro'),
    quoteId: text('quote_id').notNull(),
    /** Fingerprint of kind, wallet and body; another request with this quote is refused. */
    requestFingerprint: text('request_fingerprint').notNull(),
    /** Id of the request that opened it, carried by all later logs and messages. */
    requestId: text('request_id'),
    account: text('account', { enum: providerAccounts }).notNull(),
    checkoutId: text('checkout_id'),
    checkoutUrl: text('checkout_url'),
    expiresAt: at('expires_at'),
    /** Lease of the instance that is opening the checkout. */
    openingUntil: at('opening_until'),
    paymentRequestId: text('payment_request_id'),
    providerPaymentId: text('provider_payment_id'),
    channel: text('channel'),
    held: boolean('held'),
    paidMinor: amountColumn('paid_minor'),
    paidAt: at('paid_at'),
    /** Number of the current chain ref: 0, then one more each time it is applied again. */
    refSequence: integer('ref_sequence').notNull().default(0),
    onchainMicro: amountColumn('onchain_micro').notNull().default(sql`0`),
    /** Amount that the latest order to revoke leaves of it. */
    leftMicro: amountColumn('left_micro').notNull().default(sql`0`),
    recoveredMicro: amountColumn('recovered_micro').notNull().default(sql`0`),
    writtenOffMicro: amountColumn('written_off_micro').notNull().default(sql`0`),
    creditedAt: at('credited_at'),
    /** Time of the last successful refund check within the margin before the hold ends. */
    refundsCheckedAt: at('refunds_checked_at'),
    holdEndedAt: at('hold_ended_at'),
    /** Time of the first extension of the present hold. */
    extendedAt: at('extended_at'),
    /** Time at which the wallet was frozen because the hold could not be kept. */
    frozenAt: at('frozen_at'),
    refundedMinor: amountColumn('refunded_minor').notNull().default(sql`0`),
    refundAppliedMinor: amountColumn('refund_applied_minor').notNull().default(sql`0`),
    overpaidMinor: amountColumn('overpaid_minor').notNull().default(sql`0`),
    /** Refunded part of `overpaidMinor`. */
    overpaidRefundedMinor: amountColumn('overpaid_refunded_minor').notNull().default(sql`0`),
    reason: text('reason', { enum: reasons }),
    txHash: text('tx_hash'),
    /** Time of the next check (null: never) and number of checks in this state. */
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
    index('payments_topups_of_wallet')
      .on(table.wallet, table.topupAt)
      .where(sql`${table.topupMicro} > 0`),
    index('payments_created').on(table.createdAt),
    index('payments_credited').on(table.creditedAt),
    index('payments_activity').on(table.wallet, table.createdAt, table.id),
    index('payments_request').on(table.paymentRequestId),
    index('payments_lost_hold').on(table.wallet).where(isLostHold(table)),
    // Backs up the wallet lock: two open checkouts could charge one debt twice. One more may be
    // opening, to replace the open one once its quote is taken.
    uniqueIndex('payments_open_settlement')
      .on(table.wallet, table.state)
      .where(
        sql`${table.kind} = 'settlement' and ${table.state} in ('opening', 'awaiting_payment')`,
      ),
    check('payments_kind', sql`${table.kind} in (${quotedList(paymentKinds)})`),
    check('payments_state', sql`${table.state} in (${quotedList(paymentStates)})`),
    check('payments_pair', sql`${table.pair} = 'USD/' || ${table.currency}`),
    check(
      'payments_account',
      sql`(${table.currency}, ${table.account}) in (('IDR', 'ID'), ('MYR', 'MY'))`,
    ),
    check(
      'payments_amounts',
      sql`${table.fiatMinor} > 0 and ${table.ausdMicro} > 0 and ${table.rateMinorPerUsd} > 0`,
    ),
    check('payments_back', sql`${table.refundedMinor} >= 0 and ${table.overpaidMinor} >= 0`),
    check(
      'payments_shares',
      sql`${table.onchainMicro} >= 0 and ${table.recoveredMicro} >= 0 and ${table.writtenOffMicro} >= 0 and ${table.onchainMicro} + ${table.recoveredMicro} <= ${table.ausdMicro}`,
    ),
    check(
      'payments_awaiting',
      sql`${table.state} <> 'awaiting_payment' or ${table.checkoutUrl} is not null`,
    ),
    check(
      'payments_evidence',
      sql`${table.state} in ('opening', 'awaiting_payment', 'expired', 'replaced', 'review') or ${table.providerPaymentId} is not null`,
    ),
  ],
)
export type PaymentRow = typeof payments.$inferSelect
export type NewPayment = typeof payments.$inferInsert

const readPayment = rowReader(payments)
const one = (db: Db, statement: SQL) => first(db, statement, readPayment)
const { placeholder } = sql

/**
 * Inserts the promise before the provider is called, leased to the caller, so that no other
 * instance starts opening it. Returns undefined if the quote already has a row.
 */
export const insertPayment = (db: Db, payment: NewPayment, leaseMs: number) =>
  one(db, insertOf(keysOf(payment))({ ...payment, leaseMs }))

const insertOf = perKeys((keys) =>
  built((db) =>
    db
      .insert(payments)
      .values({ ...placeholders(keys), openingUntil: fromNow(placeholder('leaseMs')) } as never)
      .onConflictDoNothing()
      .returning(),
  ),
)

const byQuote = built<{ quoteId: string }>((db) =>
  db
    .select()
    .from(payments)
    .where(eq(payments.quoteId, placeholder('quoteId'))),
)
export const findByQuote = (db: Db, quoteId: string) => one(db, byQuote({ quoteId }))

const byId = built<{ id: string }>((db) =>
  db
    .select()
    .from(payments)
    .where(eq(payments.id, placeholder('id'))),
)
export const findPayment = (db: Db, id: string) => one(db, byId({ id }))

/** Locks a wallet for the transaction. */
export const lockWallet = (tx: Tx, wallet: string) => lockNamed(tx, `wallet:${wallet}`)

/**
 * Locks a payment and returns its current row. The wallet is locked first, as everywhere: Postgres
 * evaluates the select list before it locks the row, and then rereads a row that has changed.
 */
export const lockPayment = (tx: Tx, id: string): Promise<PaymentRow | undefined> =>
  one(tx, locking({ id }))

const locking = built<{ id: string }>((db) =>
  db
    .select({ ...getTableColumns(payments), locked: lockOf(sql`'wallet:' || ${payments.wallet}`) })
    .from(payments)
    .where(eq(payments.id, placeholder('id')))
    .for('update'),
)

/** Returns the creation time of our first payment; null if there is none. */
export async function firstPaymentAt(db: Db): Promise<Date | null> {
  const rows = await db
    .select({ at: sql<string | null>`min(${payments.createdAt})` })
    .from(payments)
  const at = rows[0]?.at
  return at ? new Date(at) : null
}

/** Finds a wallet's settlements that can still be paid or are not yet on the chain. */
export const findUnsettled = (db: Db, wallet: `0x${string}`) =>
  db
    .select()
    .from(payments)
    .where(
      and(
        eq(payments.wallet, wallet),
        eq(payments.kind, 'settlement'),
        inArray(payments.state, ['opening', 'awaiting_payment', 'paid']),
      ),
    )

/**
 * Finds an account's payment by either provider id. Returns the newest if several share a payment
 * request, which the provider does not do.
 */
export const findByProviderIds = (
  db: Db,
  ids: { account: PaymentRow['account']; paymentId: string; paymentRequestId: string | null },
) => one(db, ids.paymentRequestId === null ? byPayment(ids) : byEither(ids))

const newestOf = (db: PostgresJsDatabase, isIt: SQL) =>
  db
    .select()
    .from(payments)
    .where(and(eq(payments.account, placeholder('account')), isIt))
    .orderBy(desc(payments.createdAt))
    .limit(1)
const byPayment = built((db) =>
  newestOf(db, eq(payments.providerPaymentId, placeholder('paymentId'))),
)
const byEither = built((db) =>
  newestOf(
    db,
    sql`(${payments.providerPaymentId} = ${placeholder('paymentId')} or ${payments.paymentRequestId} = ${placeholder('paymentRequestId')})`,
  ),
)

/** Returns those of the given ids, the provider's or ours, that belong to our payments. */
export async function findOwned(
  db: Db,
  account: PaymentRow['account'],
  wanted: Record<'paymentIds' | 'requestIds' | 'ids', readonly string[]>,
): Promise<Set<string>> {
  const { id, providerPaymentId, paymentRequestId } = payments
  const isIt = or(
    isOneOf(providerPaymentId, wanted.paymentIds),
    isOneOf(paymentRequestId, wanted.requestIds),
    isOneOf(id, wanted.ids),
  )
  const columns = { id, providerPaymentId, paymentRequestId }
  const isOwn = and(eq(payments.account, account), isIt)
  const rows = await db.select(columns).from(payments).where(isOwn)
  return new Set(rows.flatMap((row) => Object.values(row).filter((one) => one !== null)))
}

export const findByCheckout = (db: Db, account: PaymentRow['account'], checkoutId: string) =>
  one(db, byCheckout({ account, checkoutId }))

const byCheckout = built((db) => {
  const { account, checkoutId } = payments
  const isIt = and(eq(account, placeholder('account')), eq(checkoutId, placeholder('checkoutId')))
  return db.select().from(payments).where(isIt)
})

/** Leases the opening of a checkout. Returns undefined if another holds the lease or it is open. */
export const leaseOpening = (db: Db, id: string, leaseMs: number) =>
  db
    .update(payments)
    .set({ openingUntil: fromNow(leaseMs) })
    .where(
      and(
        eq(payments.id, id),
        eq(payments.state, 'opening'),
        or(isNull(payments.openingUntil), sql`${payments.openingUntil} < now()`),
      ),
    )
    .returning()
    .then((rows) => rows[0])

/** Columns an update of a payment may set. */
export type Change = Partial<Omit<NewPayment, 'id' | 'state'>>

/**
 * Moves a payment from one of the given states to the next. Returns undefined if another
 * transaction moved it first. Resets `checks` to 0. The `beside` statements run only if it moved.
 */
export const movePayment = (
  db: Db,
  id: string,
  step: {
    readonly from: readonly PaymentState[]
    readonly to: PaymentState
    readonly nextCheckAt: Date | null
    readonly set?: Change
    readonly beside?: readonly (Beside | undefined)[]
  },
) => {
  const { from, to: state, nextCheckAt, set = {}, beside = [] } = step
  const moving = moveOf(keysOf(set))({ ...set, id, from: [...from], state, nextCheckAt })
  return one(db, withBeside(moving, beside))
}

const moveOf = perKeys((keys) =>
  built((db) =>
    db
      .update(payments)
      .set({
        ...placeholders([...keys, 'state', 'nextCheckAt']),
        ...{ checks: 0, updatedAt: sql`now()` },
      })
      .where(
        and(
          eq(payments.id, placeholder('id')),
          sql`${payments.state} = any(${placeholder('from')})`,
        ),
      )
      .returning(),
  ),
)

/** Updates columns without a change of state, such as ids, amounts or the next check. */
export const notePayment = (db: Db, id: string, set: Change) =>
  db.update(payments).set(set).where(eq(payments.id, id))
