import { and, eq, gt, inArray, isNotNull, isNull, ne, or, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import { findOldest } from '#shared/db/oldest.store'
import type { Database, Db } from '#shared/db/open'
import { type Cursor, cursorValues, newestFirst } from '#shared/db/paging'
import { prepared } from '#shared/db/prepared'
import { limitedStates } from '#shared/overdue'
import { limits, type PaymentState } from '../payment'
import { isOpen, type PaymentRow, payments } from '../payment.store'
import { isMissing, reversals } from '../refunds/refund.store'

// What people and operators are shown of the table of payments.

const { id, kind, state, reason, pair, fiatMinor, ausdMicro, method, channel } = payments
const { checkoutUrl, expiresAt, txHash, lateRateMinorPerUsd, createdAt, updatedAt } = payments
const { held, creditedAt, holdEndedAt } = payments
/**
 * AUSD (10⁻⁶) that a payment taken back after its hold leaves missing: 0 once that is made good or given
 * up, null where nothing ever was.
 */
const missingMicro = sql<string | null>`case when ${state} = 'review' then (
  select (case when ${isMissing(reversals)} then ${reversals.lostMicro} - ${reversals.madeGoodMicro}
    else 0 end)::text from ${reversals} where ${reversals.paymentId} = ${id}) end`
/** What a line of the list is made from. */
const listed = {
  ...{ id, kind, state, reason, pair, fiatMinor, ausdMicro, method, channel },
  ...{ checkoutUrl, expiresAt, txHash, lateRateMinorPerUsd, createdAt, updatedAt },
  ...{ held, creditedAt, holdEndedAt },
}
export type ListedPayment = Pick<PaymentRow, keyof typeof listed> & {
  readonly missingMicro: string | null
}

/** A row without a checkout and without money is an attempt that failed: nothing to show. */
const shown = and(
  eq(payments.wallet, sql.placeholder('wallet')),
  ne(state, 'opening'),
  or(isNotNull(checkoutUrl), isNotNull(payments.providerPaymentId)),
)
/** All of them are open: said as the index says it, which spares reading all that a wallet ever did. */
const inFlight = and(
  isOpen(payments),
  or(
    and(eq(state, 'awaiting_payment'), gt(expiresAt, sql.placeholder('now'))),
    inArray(state, ['paid', 'revoking', 'refunding']),
    and(eq(state, 'review'), isNull(txHash)),
    eq(reason, 'awaiting_rate'),
  ),
)
const inFlightMax = 100
const newest = newestFirst(createdAt, id)

const activity = prepared((db) => {
  const rows = (isOfPage: boolean) =>
    db
      .select({ ...listed, missingMicro, isOfPage: sql<boolean>`${sql.raw(String(isOfPage))}` })
      .from(payments)
  const page = rows(true)
    .where(and(shown, newest.afterCursor))
    .orderBy(...newest.order)
    .limit(sql.placeholder('limit'))
  const open = rows(false)
    .where(and(shown, inFlight))
    .orderBy(...newest.order)
    .limit(inFlightMax)
  return unionAll(page, open).prepare('activity')
})

/** One page of a wallet's payments, and everything of it that may still be in flight at `now`; newest first. */
export async function listActivity(
  database: Database,
  { wallet, limit, before }: { wallet: `0x${string}`; limit: number; before?: Cursor },
  now: Date,
): Promise<{ page: ListedPayment[]; open: ListedPayment[] }> {
  const values = { wallet, limit, now: now.toISOString(), ...cursorValues(before) }
  const rows = await database.read((db) => activity(db).execute(values))
  const of = (isOfPage: boolean) => rows.filter((row) => row.isOfPage === isOfPage)
  return { page: of(true), open: of(false) }
}

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
      refunding: sql<number>`count(*) filter (where ${state} = 'refunding')::int`,
    })
    .from(payments)
    .where(isOpen(payments))
  return counts!
}
