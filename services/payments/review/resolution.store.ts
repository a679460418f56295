import { and, asc, count, eq, inArray, isNull, ne, sql } from 'drizzle-orm'
import { boolean, check, index, integer, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { amountColumn, at, quotedList, timestamps } from '#platform/db/columns'
import { lockNamed } from '#platform/db/lock'
import type { Db, Tx } from '#platform/db/open'
import { providerAccounts } from '#shared/money/pair'
import { anomalies, schema } from '../schema.store'
import { orderStates, resolutions as resolutionNames } from './resolution'

/** Decisions of operators. Rows never change. */
export const resolutions = schema.table(
  'resolutions',
  {
    /** Id of the operator's command, which makes the decision idempotent. */
    commandId: uuid('deed_id').primaryKey(),
    paymentId: text('payment_id').notNull(),
    resolution: text('resolution', { enum: resolutionNames }).notNull(),
    decidedBy: text('decided_by').notNull(),
    reason: text('reason').notNull(),
    decidedAt: at('decided_at').notNull().defaultNow(),
  },
  (table) => [
    index('resolutions_payment').on(table.paymentId, table.decidedAt),
    check('resolutions_name', sql`${table.resolution} in (${quotedList(resolutionNames)})`),
    check('resolutions_words', sql`${table.decidedBy} <> '' and ${table.reason} <> ''`),
  ],
)
export type ResolutionRow = typeof resolutions.$inferSelect

export const insertResolution = (tx: Tx, row: typeof resolutions.$inferInsert) => tx.insert(resolutions).values(row)

export async function lastResolution(db: Db, paymentId: string): Promise<ResolutionRow | undefined> {
  const rows = await db
    .select()
    .from(resolutions)
    .where(eq(resolutions.paymentId, paymentId))
    .orderBy(sql`${resolutions.decidedAt} desc`)
    .limit(1)
  return rows[0]
}

/**
 * Refunds that we ordered. Each is stored before the provider is called, and is for the full remainder of a
 * charge, so that the provider itself refuses a second one.
 */
export const refundOrders = schema.table(
  'refund_orders',
  {
    reference: text('reference').primaryKey(),
    paymentId: text('payment_id').notNull(),
    account: text('account', { enum: providerAccounts }).notNull(),
    currency: text('currency', { enum: ['IDR', 'MYR'] }).notNull(),
    providerPaymentId: text('provider_payment_id').notNull(),
    minor: amountColumn('minor').notNull(),
    isSecond: boolean('is_second').notNull(),
    state: text('state', { enum: orderStates }).notNull().default('open'),
    /** Number of requests that were or may have been sent, and time of the last one. */
    requests: integer('requests').notNull().default(0),
    requestedAt: at('requested_at'),
    refundId: text('refund_id'),
    failureCode: text('failure_code'),
    ...timestamps(),
  },
  (table) => [
    index('refund_orders_payment').on(table.paymentId),
    // The index backs up the wallet lock: a charge is refunded once.
    uniqueIndex('refund_orders_once').on(table.account, table.providerPaymentId).where(sql`${table.state} <> 'failed'`),
    check('refund_orders_state', sql`${table.state} in (${quotedList(orderStates)})`),
    check('refund_orders_amount', sql`${table.minor} > 0 and ${table.requests} >= 0`),
  ],
)
export type RefundOrderRow = typeof refundOrders.$inferSelect

export const insertOrders = (tx: Tx, rows: readonly (typeof refundOrders.$inferInsert)[]) =>
  tx.insert(refundOrders).values([...rows])

export async function countOrders(db: Db, paymentId: string): Promise<number> {
  const rows = await db.select({ count: count() }).from(refundOrders).where(eq(refundOrders.paymentId, paymentId))
  return rows[0]!.count
}

/** Finds the orders of a payment without the failed ones, which may have been ordered again. */
export const findOrders = (db: Db, paymentId: string): Promise<RefundOrderRow[]> =>
  db
    .select()
    .from(refundOrders)
    .where(and(eq(refundOrders.paymentId, paymentId), ne(refundOrders.state, 'failed')))
    .orderBy(asc(refundOrders.reference))

/** Counts a request before it is sent. Returns false if another instance counted it first, or the order has ended. */
export async function countRequest(db: Db, { reference, requests }: RefundOrderRow) {
  const isNext = and(
    eq(refundOrders.reference, reference),
    eq(refundOrders.state, 'open'),
    // guard: one instance counts a refund request before it is sent
    eq(refundOrders.requests, requests),
  )
  const counted = await db
    .update(refundOrders)
    .set({ requests: requests + 1, requestedAt: sql`now()`, updatedAt: sql`now()` })
    .where(isNext)
    .returning({ reference: refundOrders.reference })
  return counted.length === 1
}

/**
 * Takes back the count of a request that certainly had no effect. Changes nothing if another request was
 * counted since.
 */
export const uncountRequest = (db: Db, { reference, requests }: RefundOrderRow) =>
  db
    .update(refundOrders)
    .set({ requests, updatedAt: sql`now()` })
    .where(and(eq(refundOrders.reference, reference), eq(refundOrders.requests, requests + 1)))

/** Failure code of an order that an operator ended, because the provider made no refund for it. */
export const givenUp = 'GIVEN_UP'

export async function findOrder(db: Db, reference: string): Promise<RefundOrderRow | undefined> {
  const [order] = await db.select().from(refundOrders).where(eq(refundOrders.reference, reference))
  return order
}

/** Ends an order for an operator. Returns false if it was requested since `requests` was read, or has a refund or an end. */
export async function giveUpOrder(tx: Tx, { reference, requests }: Pick<RefundOrderRow, 'reference' | 'requests'>) {
  const isUnchanged = and(
    eq(refundOrders.reference, reference),
    eq(refundOrders.state, 'open'),
    // guard: a refund that is requested again, or was made, is not given up
    and(eq(refundOrders.requests, requests), isNull(refundOrders.refundId)),
  )
  const ended = await tx
    .update(refundOrders)
    .set({ state: 'failed', failureCode: givenUp, updatedAt: sql`now()` })
    .where(isUnchanged)
    .returning({ reference: refundOrders.reference })
  return ended.length === 1
}

/** Updates an order that is open, or whose refund came back in the end. Returns undefined for any other order. */
export async function recordOrder(
  tx: Tx,
  reference: string,
  known: { state: RefundOrderRow['state']; refundId?: string; failureCode?: string },
): Promise<RefundOrderRow | undefined> {
  const before: RefundOrderRow['state'][] = known.state === 'failed' ? ['open', 'succeeded'] : ['open']
  const noted = await tx
    .update(refundOrders)
    .set({ ...known, updatedAt: sql`now()` })
    .where(
      and(
        eq(refundOrders.reference, reference),
        // guard: an ended refund keeps its outcome
        inArray(refundOrders.state, before),
      ),
    )
    .returning()
  return noted[0]
}

export const findSeconds = (db: Db, paymentId: string) =>
  db
    .select({
      providerPaymentId: anomalies.object,
      currency: anomalies.currency,
      minor: anomalies.amountMinor,
    })
    .from(anomalies)
    .where(and(eq(anomalies.paymentId, paymentId), eq(anomalies.kind, 'paid_twice')))
    .orderBy(asc(anomalies.object))

/** Transfers of AUSD to the treasury, each with the top-up that was refunded because it came. Rows never change. */
export const returnedTransfers = schema.table(
  'returned_transfers',
  {
    /** `<transaction>:<log>` */
    name: text('name').primaryKey(),
    paymentId: text('payment_id').notNull(),
    commandId: uuid('deed_id').notNull(),
    countedAt: at('counted_at').notNull().defaultNow(),
  },
  (table) => [index('returned_transfers_payment').on(table.paymentId)],
)

/** Returns a transfer that counts for another payment, and until the end of the transaction lets no other one count for any. */
export async function findCountedElsewhere(tx: Tx, names: readonly string[], paymentId: string) {
  lockNamed(tx, 'returned transfers')
  const isOfAnother = and(inArray(returnedTransfers.name, [...names]), ne(returnedTransfers.paymentId, paymentId))
  const [found] = await tx.select().from(returnedTransfers).where(isOfAnother).limit(1)
  return found
}

/** Records the transfers that count for a payment, some of which may count for it already. */
export const countTransfers = (tx: Tx, names: readonly string[], of: { paymentId: string; commandId: string }) =>
  tx
    .insert(returnedTransfers)
    .values([...new Set(names)].map((name) => ({ name, ...of })))
    .onConflictDoNothing()
