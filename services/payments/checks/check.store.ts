import { and, asc, eq, gt, inArray, lte, or, sql } from 'drizzle-orm'
import { isOneOf } from '#shared/db/columns'
import type { Db, Tx } from '#shared/db/open'
import { type PaymentRow, payments } from '../payment.store'
import { isWalletDue, wallets } from '../refunds/refund.store'

/** Longer than one check takes, so that another copy takes over only after a crash. */
const checkLeaseSeconds = 30

/** What is on hold comes first, because its time runs out; then money that is not on the chain. */
const urgency = sql<number>`case when ${payments.state} in ('held', 'repaid') then 0
  when ${payments.state} in ('paid', 'revoking') then 1 else 2 end`

/** A checkout that is over is asked for so much later than planned while the list is read. */
const listedRestMs = 21_600_000

/**
 * Not paid as far as we know, and of an account whose list of transactions is read: that shows their
 * money, however many there are. By itself such a checkout is asked for when it has ended, and then
 * now and then, in case the list does not show all that it should.
 */
function leftToList(now: Date, listed: readonly PaymentRow['account'][]) {
  const { account, state, reason, expiresAt, nextCheckAt: dueAt } = payments
  const isOpen = and(eq(state, 'awaiting_payment'), gt(expiresAt, now))
  const rests = gt(dueAt, new Date(now.getTime() - listedRestMs))
  const isOver = and(inArray(state, ['expired', 'replaced']), rests)
  const isPriced = sql`${reason} is distinct from 'awaiting_rate'`
  return and(inArray(account, [...listed]), isPriced, or(isOpen, isOver))!
}

/**
 * Whether anything is due, by one look at the first of each. The least is asked for, which only an index
 * knows: of "is there one" the planner thinks that reading rows finds one soon.
 */
export async function isDue(
  db: Db,
  now: Date,
): Promise<{ readonly payments: boolean; readonly wallets: boolean }> {
  const [due] = await db.execute<{ payments: boolean; wallets: boolean }>(sql`select
    coalesce((select min(${payments.nextCheckAt}) from ${payments}) <= ${now.toISOString()}, false) payments,
    exists (select from ${wallets} where ${isWalletDue(now)}) wallets`)
  return due!
}

/**
 * Takes the payments whose check is due, without those that are left to the list of transactions of
 * the accounts in `listed`; copies of the service share them out. Among equally urgent ones each
 * wallet has its turn, however many checkouts one of them keeps open; a wallet's own come in the
 * order in which they became due.
 */
export async function leaseDue(
  tx: Tx,
  now: Date,
  rowsMax: number,
  listed: readonly PaymentRow['account'][] = [],
): Promise<PaymentRow[]> {
  const { id, wallet, nextCheckAt: dueAt } = payments
  const isDue = and(
    lte(dueAt, now),
    listed.length > 0 ? sql`(${leftToList(now, listed)}) is not true` : undefined,
  )
  // Ranked apart: rows cannot be locked in a query with a window.
  const turn = sql<number>`row_number() over (partition by ${wallet}, ${urgency} order by ${dueAt})`
  const ranked = tx.$with('ranked').as(
    tx
      .select({
        id: sql<string>`${id}`.as('ranked_id'),
        urgency: urgency.as('urgency'),
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
    .orderBy(asc(ranked.urgency), asc(ranked.turn), asc(dueAt))
    .limit(rowsMax)
    .for('update', { skipLocked: true })
  if (due.length === 0) return []
  const ids = due.map((row) => row.id)
  const nextCheckAt = new Date(now.getTime() + checkLeaseSeconds * 1_000)
  return tx
    .update(payments)
    .set({ nextCheckAt, checks: sql`${payments.checks} + 1` })
    .where(isOneOf(payments.id, ids))
    .returning()
}

/** Plans the next check, unless the payment moved meanwhile and has another plan. */
export const planCheck = (db: Db, { id, state, checks }: PaymentRow, nextCheckAt: Date | null) =>
  db
    .update(payments)
    .set({ nextCheckAt })
    .where(and(eq(payments.id, id), eq(payments.state, state), eq(payments.checks, checks)))
