import { and, eq, gt, inArray, isNotNull, isNull, ne, or, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import { findOldest } from '#platform/db/oldest.store'
import type { Database, Db } from '#platform/db/open'
import { cursorValues, newestFirst, type PageCursor } from '#platform/db/paging'
import { prepared } from '#platform/db/prepared'
import { isMissing, reversals } from '../losses/refund.store'
import { type PaymentState, statesWith } from '../payment'
import { awaited, isOpen, type PaymentRow, payments, waitsSince } from '../payment.table'

const listed = {
  id: payments.id,
  kind: payments.kind,
  state: payments.state,
  reason: payments.reason,
  pair: payments.pair,
  fiatMinor: payments.fiatMinor,
  feeMinor: payments.feeMinor,
  rateMinorPerUsd: payments.rateMinorPerUsd,
  refundedMinor: payments.refundedMinor,
  ausdMicro: payments.ausdMicro,
  method: payments.method,
  channel: payments.channel,
  issuer: payments.issuer,
  bankReceipt: payments.bankReceipt,
  checkoutUrl: payments.checkoutUrl,
  expiresAt: payments.expiresAt,
  txHash: payments.txHash,
  lateRateMinorPerUsd: payments.lateRateMinorPerUsd,
  createdAt: payments.createdAt,
  updatedAt: payments.updatedAt,
  held: payments.held,
  creditedAt: payments.creditedAt,
  holdEndedAt: payments.holdEndedAt,
  lostHold: payments.lostHold,
}
const { id, state, reason, checkoutUrl, expiresAt, txHash, createdAt } = listed
/** AUSD still owed for a reversed payment (10⁻⁶): 0 once repaid or waived, null if the payment was never reversed. */
const missingMicro = sql<string | null>`case when ${state} = 'review' then (
  select (case when ${isMissing(reversals)} then ${reversals.lostMicro} - ${reversals.madeGoodMicro}
    else 0 end)::text from ${reversals} where ${reversals.paymentId} = ${id}) end`
export type ListedPayment = Pick<PaymentRow, keyof typeof listed> & {
  readonly missingMicro: string | null
}

/** Selects the payments that users see. A row with neither checkout nor money is a failed attempt, and hidden. */
const shown = and(
  eq(payments.wallet, sql.placeholder('wallet')),
  ne(state, 'opening'),
  or(isNotNull(checkoutUrl), isNotNull(payments.providerPaymentId)),
)
/** Selects payments in flight. `isOpen` is implied, but lets Postgres use the partial index. */
const inFlight = and(
  isOpen(payments),
  or(
    and(eq(state, 'awaiting_payment'), gt(expiresAt, sql.placeholder('now'))),
    inArray(state, statesWith('inFlight')),
    and(eq(state, 'review'), isNull(txHash)),
    eq(reason, 'awaiting_rate'),
  ),
)
const inFlightMax = 100
const newest = newestFirst(createdAt, id)

const activity = prepared((db) => {
  const rows = (isOfPage: boolean) =>
    db.select({ ...listed, missingMicro, isOfPage: sql<boolean>`${sql.raw(String(isOfPage))}` }).from(payments)
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

/** Returns a page of payments, newest first, and in `open` all that may be in flight at `now`. */
export async function listActivity(
  database: Database,
  { wallet, limit, before }: { wallet: `0x${string}`; limit: number; before?: PageCursor },
  now: Date,
): Promise<{ page: ListedPayment[]; open: ListedPayment[] }> {
  const values = { wallet, limit, now: now.toISOString(), ...cursorValues(before) }
  const rows = await database.read((db) => activity(db).execute(values))
  const of = (isOfPage: boolean) => rows.filter((row) => row.isOfPage === isOfPage)
  return { page: of(true), open: of(false) }
}

const item = prepared((db) =>
  db
    .select({ ...listed, missingMicro })
    .from(payments)
    .where(and(shown, eq(id, sql.placeholder('id'))))
    .prepare('activity_item'),
)

export async function findListed(
  database: Database,
  asked: { wallet: `0x${string}`; id: string },
): Promise<ListedPayment | undefined> {
  return (await database.read((db) => item(db).execute(asked)))[0]
}

export const oldestPayments = (db: Db) =>
  findOldest<PaymentState>(db, { table: payments, state, id, since: waitsSince, awaited })

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
