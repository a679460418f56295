import { and, eq, gt, inArray, isNotNull, isNull, ne, or, sql } from 'drizzle-orm'
import { findOldest } from '#shared/db/oldest.store'
import type { Db } from '#shared/db/open'
import { type Cursor, newestFirst } from '#shared/db/paging'
import { limitedStates } from '#shared/overdue'
import { limits, type PaymentState } from './payment'
import { isOpen, payments } from './payment.store'

// What people and operators are shown of the table of payments.

/** A row without a checkout and without money is an attempt that failed: nothing to show. */
const shown = (wallet: `0x${string}`) =>
  and(
    eq(payments.wallet, wallet),
    ne(payments.state, 'opening'),
    or(isNotNull(payments.checkoutUrl), isNotNull(payments.providerPaymentId)),
  )
const newest = newestFirst(payments.createdAt, payments.id)

/** One page of a wallet's payments, newest first. */
export const listPayments = (
  db: Db,
  { wallet, limit, before }: { wallet: `0x${string}`; limit: number; before?: Cursor },
) =>
  db
    .select()
    .from(payments)
    .where(and(shown(wallet), newest.after(before)))
    .orderBy(...newest.order)
    .limit(limit)

const inFlightMax = 100

/** Everything that may still be in flight at `now`, newest first. */
export const listInFlight = (db: Db, wallet: `0x${string}`, now: Date) =>
  db
    .select()
    .from(payments)
    .where(
      and(
        shown(wallet),
        or(
          and(eq(payments.state, 'awaiting_payment'), gt(payments.expiresAt, now)),
          inArray(payments.state, ['paid', 'revoking']),
          and(eq(payments.state, 'review'), isNull(payments.txHash)),
          eq(payments.reason, 'awaiting_rate'),
        ),
      ),
    )
    .orderBy(...newest.order)
    .limit(inFlightMax)

/** Something is awaited: what rests in its state is left out. */
const awaited = () => {
  const { state, reason, held, holdEndedAt } = payments
  return and(
    isOpen(payments),
    inArray(state, limitedStates(limits)),
    sql`(${state} not in ('expired', 'replaced') or ${reason} = 'awaiting_rate')`,
    sql`(${state} <> 'repaid' or (${held} and ${holdEndedAt} is null))`,
  )
}

/** What has waited longest in each state; an open checkout waits from its end on. */
export const oldestPayments = (db: Db) => {
  const { id, state, updatedAt, expiresAt } = payments
  const since = sql`case when ${state} = 'awaiting_payment'
    then greatest(${updatedAt}, ${expiresAt}) else ${updatedAt} end`
  return findOldest<PaymentState>(db, {
    table: payments,
    ...{ state, id, since },
    awaited: awaited(),
  })
}

/** How many payments are where. In flight: the money arrived, and its effect is not final. */
export async function countPayments(db: Db) {
  const { state, held, creditedAt, holdEndedAt, updatedAt } = payments
  const [counts] = await db
    .select({
      inFlight: sql<number>`count(*) filter (where ${state} in ('paid', 'revoking'))::int`,
      oldestInFlightMs: sql<
        number | null
      >`(extract(epoch from now() - min(${updatedAt}) filter (where ${state} in ('paid', 'revoking'))) * 1000)::float8`,
      awaitingPayment: sql<number>`count(*) filter (where ${state} = 'awaiting_payment')::int`,
      onHold: sql<number>`count(*) filter (where ${held} and ${creditedAt} is not null and ${holdEndedAt} is null and ${state} in ('held', 'repaid'))::int`,
      inReview: sql<number>`count(*) filter (where ${state} = 'review')::int`,
    })
    .from(payments)
    .where(isOpen(payments))
  return counts!
}
