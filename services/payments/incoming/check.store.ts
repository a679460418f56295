import { and, asc, eq, gt, inArray, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import { isFromAhead, isOneOf, isOver, quotedList, timeFrom } from '#platform/db/columns'
import type { Db, Tx } from '#platform/db/open'
import { checkMaxMs } from '../decide'
import { isLookDue, isWalletDue, refunds, wallets } from '../losses/refund.store'
import { statesWith } from '../payment'
import { type PaymentRow, payments } from '../payment.table'

/**
 * Usual duration of the lease on a check, in ms. It is longer than one check, so another instance takes over only after a
 * crash.
 */
export const checkLeaseMs = 30_000

/**
 * Kinds of checks, each with its own share of a round: `holds` end on the chain, `orders` are resent without
 * asking the provider, and `others` ask the provider.
 */
export const checkKinds = ['holds', 'orders', 'others'] as const
export type CheckKind = (typeof checkKinds)[number]
const holding = quotedList(statesWith('mayHold'))
const ofKind: Readonly<Record<CheckKind, SQL>> = {
  holds: sql`${payments.state} in (${holding})`,
  orders: sql`${payments.state} = 'paid'`,
  others: sql`${payments.state} not in (${holding}, 'paid')`,
}

const listedRestMs = 21_600_000

/**
 * Selects unpaid checkouts in accounts whose current transaction list would show their payments. They are
 * checked when they end, and rarely after that in case the list is incomplete.
 */
function leftToList(now: Date, listed: readonly PaymentRow['account'][]) {
  const { account, state, reason, expiresAt, nextCheckAt: dueAt } = payments
  const isOpen = and(eq(state, 'awaiting_payment'), gt(expiresAt, now))
  const rests = gt(dueAt, new Date(now.getTime() - listedRestMs))
  const hasEnded = and(inArray(state, ['expired', 'replaced']), rests)
  const isPriced = sql`${reason} is distinct from 'awaiting_rate'`
  return and(inArray(account, [...listed]), isPriced, or(isOpen, hasEnded))!
}

/** Selects payments whose next check was planned while the database's clock was ahead. */
const isPlannedAhead = and(isNotNull(payments.nextCheckAt), isFromAhead(payments.changedAt))!

/**
 * Returns whether any payment, wallet, refund or dispute is due. It reads the earliest and the latest time, which are index
 * lookups; for `exists` the planner would scan rows.
 */
export async function isDue(
  db: Db,
  now: Date,
): Promise<{ readonly payments: boolean; readonly wallets: boolean; readonly looks: boolean }> {
  const isTimeOver = (time: SQL) => isOver(time, checkMaxMs, timeFrom(now))
  const [due] = await db.execute<{ payments: boolean; wallets: boolean; looks: boolean }>(sql`select
    coalesce(${isTimeOver(sql`earliest`)} or ${isTimeOver(sql`latest`)}, false)
      or exists (select from ${payments} where ${isPlannedAhead}) payments,
    exists (select from ${wallets} where ${isWalletDue(now)}) wallets,
    exists (select from ${refunds} where ${isLookDue(now)}) looks
    from (select min(${payments.nextCheckAt}) earliest, max(${payments.nextCheckAt}) latest
      from ${payments}) planned`)
  return due!
}

/**
 * Leases due payments of one kind for a check, for `leaseMs`. Unpaid checkouts of the `listed` accounts are left to the
 * transaction list. Holds come in the order in which they end; for other kinds wallets take turns, so that
 * none can delay the rest.
 */
export async function leaseDue(
  tx: Tx,
  now: Date,
  kind: CheckKind,
  rowsMax: number,
  {
    listed = [],
    leaseMs = checkLeaseMs,
  }: { readonly listed?: readonly PaymentRow['account'][]; readonly leaseMs?: number } = {},
): Promise<PaymentRow[]> {
  const { id, wallet, nextCheckAt: dueAt } = payments
  const isDue = and(
    or(isOver(dueAt, checkMaxMs, timeFrom(now)), isPlannedAhead),
    ofKind[kind],
    listed.length > 0 ? sql`(${leftToList(now, listed)}) is not true` : undefined,
  )
  // Ranking is a query of its own, because Postgres cannot lock rows in a query with a window function.
  const turn =
    kind === 'holds' ? sql<number>`1` : sql<number>`row_number() over (partition by ${wallet} order by ${dueAt})`
  const ranked = tx.$with('ranked').as(
    tx
      .select({
        id: sql<string>`${id}`.as('ranked_id'),
        turn: turn.as('turn'),
      })
      .from(payments)
      .where(isDue),
  )
  const due = await tx
    .with(ranked)
    .select({ id })
    .from(payments)
    .innerJoin(ranked, eq(id, ranked.id))
    .where(isDue)
    .orderBy(asc(ranked.turn), asc(dueAt))
    .limit(rowsMax)
    .for('update', { skipLocked: true })
  if (due.length === 0) return []
  const ids = due.map((row) => row.id)
  const nextCheckAt = new Date(now.getTime() + leaseMs)
  return tx
    .update(payments)
    .set({ nextCheckAt, checks: sql`${payments.checks} + 1` })
    .where(isOneOf(payments.id, ids))
    .returning()
}

/**
 * Plans the next check, unless the payment has moved: its step has planned one already. A check that
 * `isPutOff` does not count in `checks`.
 */
export const planCheck = (db: Db, { id, state, checks }: PaymentRow, nextCheckAt: Date | null, isPutOff: boolean) =>
  db
    .update(payments)
    .set({ nextCheckAt, ...(isPutOff ? { checks: checks - 1 } : {}) })
    .where(and(eq(payments.id, id), eq(payments.state, state), eq(payments.checks, checks)))
