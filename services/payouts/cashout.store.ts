import { and, asc, eq, gte, inArray, isNotNull, isNull, lt, ne, not, or, type SQL, sql } from 'drizzle-orm'
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core'
import {
  backoffOf,
  fromNow,
  isFromAhead,
  isOneOf,
  isOver,
  midnightInJakarta,
  quotedList,
  startOfDayInJakarta,
} from '#platform/db/columns'
import { firstAhead, orFail, rowReader, type SideWrite, withSideWrites } from '#platform/db/compiled-query'
import { leaseRows } from '#platform/db/lease-rows'
import { lockNamed } from '#platform/db/lock'
import { type Db, sendAhead, type Tx } from '#platform/db/open'
import type { announceWith } from '#platform/db/outbox.store'
import { pausedSince } from '#platform/db/pause.store'
import { statesBefore } from '#platform/lifecycle'
import { type CashoutState, lifecycle, unpaidStates } from './cashout'
import {
  type Cashout,
  cashouts,
  isExpired,
  isOfClosedMarket,
  isOpen,
  isUncertain,
  type NewCashout,
} from './cashout.table'
import { checkWait } from './decide'
import type { PayoutApi } from './provider'
import { isRefusedAccount } from './request/refusal.store'
import { pauses } from './schema.store'

type Changes = PgUpdateSetSource<typeof cashouts>

const readCashout = rowReader(cashouts)

export async function findCashout(db: Db, id: string): Promise<Cashout | undefined> {
  return (await db.select().from(cashouts).where(eq(cashouts.id, id)))[0]
}

export const listCashouts = (db: Db, ids: readonly string[]): Promise<Cashout[]> =>
  db.select().from(cashouts).where(isOneOf(cashouts.id, ids))

export async function findPaidAs(db: Db, providerPayoutId: string): Promise<Cashout | undefined> {
  const rows = await db.select().from(cashouts).where(eq(cashouts.providerPayoutId, providerPayoutId))
  return rows[0]
}

/** Finds the cash-outs with one of these ids, or paid as one of these payouts. */
export const findOwners = (db: Db, ids: readonly string[], payoutIds: readonly string[]) =>
  db
    .select()
    .from(cashouts)
    .where(or(isOneOf(cashouts.id, ids), isOneOf(cashouts.providerPayoutId, payoutIds)))

/** Finds the row of this quote and the row of this authorization, unless it is expired: at most one each. */
export const findRivals = (db: Db, quoteId: string, authorizer: string, nonce: string) =>
  db
    .select()
    .from(cashouts)
    .where(
      or(
        eq(cashouts.quoteId, quoteId),
        and(
          eq(cashouts.authorizer, authorizer as `0x${string}`),
          // guard: a signed transfer pays one cash-out
          eq(cashouts.authorizationNonce, nonce),
          not(isExpired(cashouts)),
        ),
      ),
    )

/**
 * Stores a cash-out together with the next statement or the commit. Returns a function for use after the commit, which returns
 * the row, or undefined if the quote or the authorization has one already.
 */
export function insertCashout(tx: Tx, cashout: NewCashout): () => Cashout | undefined {
  // guard: a signed transfer pays one cash-out
  const statement = tx.insert(cashouts).values(cashout).onConflictDoNothing().returning()
  return firstAhead(tx, statement, readCashout)
}

export const lockWallet = (tx: Tx, wallet: string) => lockNamed(tx, `wallet:${wallet}`)

/** States of cash-outs that count for no limit. AUSD that goes back is among them: it pays no bank, and would use up the limits of others. */
const undone: CashoutState[] = ['expired', 'failed', 'returning', 'returned']

const totals = {
  micro: sql<string>`coalesce(sum(${cashouts.ausdMicro})
    filter (where ${cashouts.state} not in (${quotedList(undone)})), 0)::text`,
  givenBack: sql<number>`(count(*)
    filter (where ${cashouts.state} in ('returning', 'returned')))::int`,
  inProgress: sql<number>`(count(*)
    filter (where ${cashouts.state} in ('taking', 'taken', 'paying')))::int`,
}

/**
 * Sums a wallet's cash-outs of this day in Jakarta (10⁻⁶ AUSD), without those that came to nothing, and counts those
 * given back and in progress.
 */
export async function sumToday(db: Db, wallet: `0x${string}`) {
  const [row] = await db
    .select({ ...totals, pausedSince: pausedSince(pauses, ['payouts']) })
    .from(cashouts)
    .where(and(eq(cashouts.wallet, wallet), gte(cashouts.createdAt, midnightInJakarta)))
  return { ...row!, micro: BigInt(row!.micro) }
}

export const lockAccount = (tx: Tx, mark: string) => lockNamed(tx, `account:${mark}`)

type Asked = Pick<Cashout, 'createdAt'>

/**
 * Selects the cash-outs of today in Jakarta, or of the day on which a cash-out was asked for: its AUSD may arrive on the
 * next day, whose sum does not count it.
 */
const isOfDay = (of?: Asked): SQL | undefined =>
  and(gte(cashouts.createdAt, startOfDay(of)), of && lt(cashouts.createdAt, sql`${startOfDay(of)} + interval '1 day'`))

const startOfDay = (of?: Asked): SQL =>
  of ? startOfDayInJakarta(sql`${of.createdAt.toISOString()}::timestamptz`) : midnightInJakarta

/**
 * Does the same for a bank account over all wallets, on this day or on that of a cash-out, and returns whether operators
 * refuse it. `marks`: its keyed hashes. What a wallet's code has not yet let go counts only for its wallet, so that nobody can
 * use up the limit of another person's account.
 */
export async function sumDayTo(tx: Tx, marks: readonly string[], of?: Asked) {
  const [row] = await tx
    .select({ ...totals, isRefused: isRefusedAccount(marks) })
    .from(cashouts)
    .where(and(isOneOf(cashouts.accountMark, marks), isOfDay(of), not(isUncertain)))
  return { ...row!, micro: BigInt(row!.micro) }
}

/** Serializes the cash-outs of all wallets, whose sum has a limit. */
export const lockAllCashouts = (tx: Tx) => lockNamed(tx, 'all cash-outs')

/**
 * Sums the cash-outs of all wallets (10⁻⁶ AUSD), on this day in Jakarta or on that of a cash-out, without those that came to
 * nothing. What a wallet's code has not yet let go counts only for its wallet, so that no wallet can use up the limit of all. A row
 * was changed on its day or later, which lets Postgres use the index.
 */
export async function sumAllOfDay(tx: Tx, of?: Asked): Promise<bigint> {
  const [row] = await tx
    .select({ micro: totals.micro })
    .from(cashouts)
    .where(and(sql`${cashouts.changedAt} >= ${startOfDay(of)} - interval '1 minute'`, isOfDay(of), not(isUncertain)))
  return BigInt(row!.micro)
}

export const lockClosedMarket = (tx: Tx) => lockNamed(tx, 'closed market')

/**
 * Sums the cash-outs at rates of a closed market (10⁻⁶ AUSD), of all wallets and of one, on this day in Jakarta or on that of a
 * cash-out, without those that came to nothing. What a wallet's code has not yet let go counts only for its wallet, so that
 * nobody can use up the limit of all.
 */
export async function sumClosedOfDay(tx: Tx, wallet: `0x${string}`, of?: Asked) {
  const isDone = sql`${cashouts.state} not in (${quotedList(undone)})`
  const sumWhere = (what: SQL) =>
    sql<string>`coalesce(sum(${cashouts.ausdMicro}) filter (where ${isDone} and ${what}), 0)::text`
  const [row] = await tx
    .select({ ofAll: sumWhere(not(isUncertain)), ofWallet: sumWhere(eq(cashouts.wallet, wallet)) })
    .from(cashouts)
    .where(and(isOfClosedMarket(cashouts), isOfDay(of)))
  return { ofAll: BigInt(row!.ofAll), ofWallet: BigInt(row!.ofWallet) }
}

export async function wasPaidTo(tx: Tx, wallet: `0x${string}`, marks: readonly string[]) {
  const { id, accountMark, state } = cashouts
  const isIt = and(isOneOf(accountMark, marks), eq(cashouts.wallet, wallet), eq(state, 'paid'))
  return (await tx.select({ id }).from(cashouts).where(isIt).limit(1)).length > 0
}

/** Sums the AUSD (10⁻⁶) still to be taken from a wallet, without cash-outs whose nonce is in `counted`. */
export async function sumTaking(tx: Tx, wallet: `0x${string}`, counted: readonly string[]): Promise<bigint> {
  const { ausdMicro, authorizationNonce, state } = cashouts
  const [row] = await tx
    .select({ micro: sql<string>`coalesce(sum(${ausdMicro}), 0)::text` })
    .from(cashouts)
    .where(
      and(
        eq(cashouts.wallet, wallet),
        inArray(state, ['opening', 'taking']),
        isOpen(cashouts),
        not(isOneOf(authorizationNonce, counted)),
      ),
    )
  return BigInt(row!.micro)
}

export async function lockCashout(tx: Tx, id: string): Promise<Cashout | undefined> {
  // guard: one transaction at a time decides about a cash-out
  return (await tx.select().from(cashouts).where(eq(cashouts.id, id)).for('update'))[0]
}

type StepChanges = Changes & { nextCheckAt: SQL | null }

/**
 * Moves a cash-out to `next`. Returns undefined if no step leads there from its current state, or an operator holds it.
 */
export async function moveCashout(
  db: Db,
  id: string,
  next: CashoutState,
  changes: StepChanges,
): Promise<Cashout | undefined> {
  return (await moving(db, id, next, changes).returning())[0]
}

/**
 * Does the same and stores an order, together with the next statement or the commit. Returns a function for use after the
 * commit, which returns the moved row.
 */
export function moveAhead(
  tx: Tx,
  id: string,
  next: CashoutState,
  changes: StepChanges,
  order: ReturnType<typeof announceWith>,
): () => Cashout | undefined {
  let row: Cashout | undefined
  const statement = moving(tx, id, next, changes).returning().getSQL()
  sendAhead(tx, withSideWrites(statement, [order?.statement]), ([moved]) => {
    if (!moved) return
    row = readCashout(moved)
    order?.notify()
  })
  return () => row
}

/**
 * Moves a cash-out and does the side writes, together with the next statement or the commit. The caller has locked the row in
 * a state that allows the step; if it has not, the transaction fails.
 */
export function moveLocked(
  tx: Tx,
  id: string,
  next: CashoutState,
  changes: StepChanges,
  sideWrites: readonly (SideWrite | undefined)[],
): void {
  const moved = moving(tx, id, next, changes).returning({ id: cashouts.id })
  sendAhead(tx, orFail(moved.getSQL(), sideWrites))
}

const moving = (db: Db, id: string, next: CashoutState, changes: StepChanges, isIt?: SQL) =>
  db
    .update(cashouts)
    .set({ ...changes, state: next, checks: 0, updatedAt: sql`now()` })
    .where(
      and(
        eq(cashouts.id, id),
        isIt,
        // guard: a cash-out moves only from a state that allows the step
        inArray(cashouts.state, statesBefore(lifecycle, next)),
        // guard: a cash-out that an operator holds is not paid
        next === 'paying' ? not(cashouts.heldByOperator) : undefined,
      ),
    )

/** Updates columns without a change of state, together with the next statement or the commit. */
export const recordCashout = (tx: Tx, id: string, changes: Changes): void =>
  sendAhead(tx, tx.update(cashouts).set(changes).where(eq(cashouts.id, id)))

/** Holds the cash-outs to a bank account whose payout is not ordered, for an operator who refuses the account. */
export const holdUnpaidTo = (tx: Tx, marks: readonly string[]) =>
  tx
    .update(cashouts)
    .set({ heldByOperator: true, holdRevision: sql`${cashouts.holdRevision} + 1` })
    .where(
      and(
        isOneOf(cashouts.accountMark, marks),
        inArray(cashouts.state, [...unpaidStates]),
        not(cashouts.heldByOperator),
      ),
    )

/** Lists the cash-outs to a bank account that an operator holds before their payout, and those whose payout is ordered. */
export async function listUnpaidTo(tx: Tx, marks: readonly string[]) {
  const { id, state, accountMark, heldByOperator, createdAt } = cashouts
  const rows = await tx
    .select({ id, state })
    .from(cashouts)
    .where(
      and(isOneOf(accountMark, marks), or(eq(state, 'paying'), and(inArray(state, [...unpaidStates]), heldByOperator))),
    )
    .orderBy(asc(createdAt), asc(id))
  const idsOf = (isPaying: boolean) => rows.filter((row) => (row.state === 'paying') === isPaying).map((row) => row.id)
  return { held: idsOf(false), ordered: idsOf(true) }
}

/**
 * Counts an attempt to pay, together with the next statement or the commit. The caller has locked the row and passes it as
 * `before`. Returns a function for use after the commit, which returns the row.
 */
export function countAttempt(tx: Tx, before: Cashout, api: PayoutApi): () => Cashout | undefined {
  const statement = tx.update(cashouts).set(nextAttempt(before, api)).where(eq(cashouts.id, before.id)).returning()
  return firstAhead(tx, statement, readCashout)
}

/**
 * Moves a cash-out without a known payout to `paying` and counts the attempt. Returns undefined if it is in another state than
 * `taken` by now, has a payout, or an operator holds it.
 */
export async function moveToAttempt(
  db: Db,
  before: Cashout,
  api: PayoutApi,
  nextCheckAt: SQL,
): Promise<Cashout | undefined> {
  const changes = { ...nextAttempt(before, api), nextCheckAt }
  const moved = moving(
    db,
    before.id,
    'paying',
    changes,
    // guard: a payout that became known is followed, and none is ordered beside it
    isNull(cashouts.providerPayoutId),
  )
  return (await moved.returning())[0]
}

const nextAttempt = (before: Cashout, api: PayoutApi) => ({
  attempts: before.attempts + 1,
  attemptedAt: sql`now()`,
  payoutApi: apiOf(before, api),
})

/**
 * Returns the API of a cash-out, which is that of its first attempt: another API does not know its key and
 * reference.
 */
// guard: a payout stays with the API version of its first attempt
export const apiOf = (cashout: Cashout, forNew: PayoutApi): PayoutApi => cashout.payoutApi ?? forNew

export type DueCashout = Cashout & { readonly leasedAt: Date }

/** Leases due rows and sets their next check, at which another instance takes over after a crash. */
export async function leaseDue(db: Db, rowsMax: number, waitMs: number): Promise<DueCashout[]> {
  const { state, nextCheckAt } = cashouts
  const { maxMs, failedMaxMs } = checkWait
  const max = sql`case ${state} when 'failed' then ${failedMaxMs}::float8 else ${maxMs}::float8 end`
  const wait = backoffOf({ firstMs: waitMs, maxMs: max }, cashouts.checks)
  return leaseRows(db, cashouts, {
    id: cashouts.id,
    isDue: or(
      isOver(nextCheckAt, failedMaxMs),
      and(ne(state, 'failed'), isOver(nextCheckAt, maxMs)),
      and(isNotNull(nextCheckAt), isFromAhead(cashouts.changedAt)),
    ),
    order: [nextCheckAt],
    rowsMax,
    set: { nextCheckAt: fromNow(wait), checks: sql`${cashouts.checks} + 1` },
    also: { leasedAt: sql`clock_timestamp()`.mapWith(cashouts.createdAt) },
  })
}

export const endChecks = (db: Db, { id, state }: Cashout) =>
  db
    .update(cashouts)
    .set({ nextCheckAt: null })
    .where(and(eq(cashouts.id, id), eq(cashouts.state, state)))
