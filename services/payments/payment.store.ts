import { and, eq, getTableColumns, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { fromNow, isOneOf, isOver } from '#platform/db/columns'
import {
  compiledQuery,
  first,
  firstAhead,
  keysOf,
  orFail,
  perKeys,
  placeholders,
  rowReader,
  type SideWrite,
} from '#platform/db/compiled-query'
import { lockNamed, lockOf } from '#platform/db/lock'
import { type Db, sendAhead, type Tx } from '#platform/db/open'
import { type PaymentState, unsettledStates } from './payment'
import { type NewPayment, type PaymentRow, payments } from './payment.table'

const readPayment = rowReader(payments)
const one = (db: Db, statement: SQL) => first(db, statement, readPayment)
const { placeholder } = sql

/**
 * Inserts a payment at the end of the transaction, leased to the caller until the provider has answered. Returns a function for
 * use after the commit, which returns the row, or undefined if the quote has one already.
 */
export const insertPayment = (tx: Tx, payment: NewPayment, leaseMs: number): (() => PaymentRow | undefined) =>
  firstAhead(tx, insertOf(keysOf(payment))({ ...payment, leaseMs }), readPayment)

const insertOf = perKeys((keys) =>
  compiledQuery((db) =>
    db
      .insert(payments)
      .values({ ...placeholders(keys), openingUntil: fromNow(placeholder('leaseMs')) } as never)
      .onConflictDoNothing()
      .returning(),
  ),
)

const byQuote = compiledQuery<{ quoteId: string }>((db) =>
  db
    .select()
    .from(payments)
    .where(eq(payments.quoteId, placeholder('quoteId'))),
)
export const findByQuote = (db: Db, quoteId: string) => one(db, byQuote({ quoteId }))

/** Fails the transaction (`isTooLate`) if the quote has a row, before its next statement or its commit. */
export const failIfStored = (tx: Tx, quoteId: string): void => sendAhead(tx, orFail(byQuote({ quoteId }), [], 0))

const byId = compiledQuery<{ id: string }>((db) =>
  db
    .select()
    .from(payments)
    .where(eq(payments.id, placeholder('id'))),
)
export const findPayment = (db: Db, id: string) => one(db, byId({ id }))

export const lockWallet = (tx: Tx, wallet: string) => lockNamed(tx, `wallet:${wallet}`)

/**
 * Locks the wallet and then the row, the order used everywhere. Postgres evaluates the select list before it
 * locks the row, and then rereads a row that has changed.
 */
export const lockPayment = (tx: Tx, id: string): Promise<PaymentRow | undefined> => one(tx, locking({ id }))

/** Locks them before the next statement. Returns a function that returns the row once that statement has its result. */
export const lockPaymentAhead = (tx: Tx, id: string): (() => PaymentRow | undefined) =>
  firstAhead(tx, locking({ id }), readPayment)

const locking = compiledQuery<{ id: string }>((db) =>
  db
    .select({
      ...getTableColumns(payments),
      // guard: one transaction at a time decides about a payment
      locked: lockOf(sql`'wallet:' || ${payments.wallet}`),
    })
    .from(payments)
    .where(eq(payments.id, placeholder('id')))
    // guard: one transaction at a time decides about a payment
    .for('update'),
)

export async function firstPaymentAt(db: Db): Promise<Date | null> {
  const rows = await db.select({ at: sql<string | null>`min(${payments.createdAt})` }).from(payments)
  const at = rows[0]?.at
  return at ? new Date(at) : null
}

export const findUnsettled = (db: Db, wallet: `0x${string}`) =>
  db
    .select()
    .from(payments)
    .where(
      and(eq(payments.wallet, wallet), eq(payments.kind, 'settlement'), inArray(payments.state, [...unsettledStates])),
    )

/**
 * Finds a payment by its provider ids. Returns the newest if several share a payment request, which the
 * provider does not do.
 */
export async function findByProviderIds(
  db: Db,
  ids: { account: PaymentRow['account']; paymentId: string; paymentRequestId: string | null },
): Promise<PaymentRow | undefined> {
  // Postgres may walk the index of an order from end to end, so the newest is found here.
  const rows = await db.execute(ids.paymentRequestId === null ? byPayment(ids) : byEither(ids))
  return rows.map(readPayment).toSorted((a, b) => Number(b.createdAt) - Number(a.createdAt))[0]
}

const ofAccount = (db: PostgresJsDatabase, isIt: SQL) =>
  db
    .select()
    .from(payments)
    .where(and(eq(payments.account, placeholder('account')), isIt))
const byPayment = compiledQuery((db) => ofAccount(db, eq(payments.providerPaymentId, placeholder('paymentId'))))
const byEither = compiledQuery((db) =>
  ofAccount(
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

const byCheckout = compiledQuery((db) => {
  const { account, checkoutId } = payments
  const isIt = and(eq(account, placeholder('account')), eq(checkoutId, placeholder('checkoutId')))
  return db.select().from(payments).where(isIt)
})

/** Leases an opening. Returns undefined if another instance holds the lease or the checkout is open. */
export const leaseOpening = (db: Db, id: string, leaseMs: number) =>
  db
    .update(payments)
    .set({ openingUntil: fromNow(leaseMs) })
    .where(
      and(
        eq(payments.id, id),
        eq(payments.state, 'opening'),
        // guard: one instance at a time opens the checkout of a payment
        or(isNull(payments.openingUntil), isOver(payments.openingUntil, leaseMs)),
      ),
    )
    .returning()
    .then((rows) => rows[0])

export type Change = Partial<Omit<NewPayment, 'id' | 'state'>>

type Move = {
  readonly from: PaymentState
  readonly to: PaymentState
  readonly nextCheckAt: Date | null
  readonly set?: Change
}

/** Moves a row from the state that was read. Returns undefined if another transaction moved it first. */
export const movePayment = (db: Db, id: string, move: Move) => one(db, moving(id, move))

/**
 * Moves a locked row together with the next statement. The side writes run only if it moves; if it is not in the state that
 * was read, the transaction fails.
 */
export const moveLocked = (
  tx: Tx,
  id: string,
  { sideWrites, ...move }: Move & { readonly sideWrites: readonly (SideWrite | undefined)[] },
): void => sendAhead(tx, orFail(moving(id, move), sideWrites))

const moving = (id: string, { from, to: state, nextCheckAt, set = {} }: Move): SQL =>
  moveOf(keysOf(set))({ ...set, id, from, state, nextCheckAt })

const moveOf = perKeys((keys) =>
  compiledQuery((db) =>
    db
      .update(payments)
      .set({
        ...placeholders([...keys, 'state', 'nextCheckAt']),
        checks: 0,
        updatedAt: sql`now()`,
      })
      .where(
        and(
          eq(payments.id, placeholder('id')),
          // guard: a payment moves only from the state that was read
          eq(payments.state, placeholder('from')),
        ),
      )
      .returning(),
  ),
)

/** Updates columns without a change of state. */
export const recordPayment = (db: Db, id: string, set: Change) =>
  db.update(payments).set(set).where(eq(payments.id, id))
