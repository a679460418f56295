import { and, asc, eq, inArray, isNotNull, lte, not, sql } from 'drizzle-orm'
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { fromNow, isOneOf, isOver } from '#platform/db/columns'
import { compiledQuery, orFail, placeholders, rowReader } from '#platform/db/compiled-query'
import { leaseRows } from '#platform/db/lease-rows'
import { findOldest } from '#platform/db/oldest.store'
import { type Db, sendAhead, type Tx } from '#platform/db/open'
import { isPaused } from '#platform/db/pause.store'
import { prepared } from '#platform/db/prepared'
import { statesBefore } from '#platform/lifecycle'
import { requestId } from '#platform/request-id'
import { pauses } from '../schema.store'
import { goesOn, lifecycle, type OperationState, type Order, racing, restMaxMs, transferEndsMs } from './operation'
import { isOpen, isWaiting, type Operation, operations } from './operation.table'

export async function findOperation(db: Db, id: string): Promise<Operation | undefined> {
  const rows = await db.select().from(operations).where(eq(operations.id, id))
  return rows[0] as Operation | undefined
}

const readOperation = rowReader(operations)

export async function findOperations(db: Db, ids: readonly string[]): Promise<Operation[]> {
  const rows = await db.execute(withIds({ ids: [...ids] }))
  return rows.map(readOperation) as Operation[]
}

const isAmong = sql`${operations.id} = any(${sql.placeholder('ids')})`
const withIds = compiledQuery((db) => db.select().from(operations).where(isAmong))

/** Returns the last final block known to credit or repay this ref id. An older chain state lacks the hold. */
export async function blockOfRef(db: Db, refId: string): Promise<bigint> {
  const rows = await db
    .select({ block: sql<string>`coalesce(max(${operations.blockNumber}), 0)::text` })
    .from(operations)
    .where(
      and(inArray(operations.kind, ['credit', 'repay']), eq(operations.cause, refId), eq(operations.state, 'settled')),
    )
  return BigInt(rows[0]!.block)
}

export async function ordersOfRef(db: Db, refId: string) {
  const rows = await db
    .select({
      block: sql<string>`coalesce(max(${operations.blockNumber}), 0)::text`,
      isOpen: sql<boolean>`coalesce(bool_or(${isOpen(operations)}), false)`,
    })
    .from(operations)
    .where(and(inArray(operations.kind, ['credit', 'repay']), eq(operations.cause, refId)))
  return { block: BigInt(rows[0]!.block), isOpen: rows[0]!.isOpen }
}

/** Stores an order. Returns false if this order, or another with its authorization, is already stored. */
export async function insertOperation(
  tx: Tx,
  order: Order,
  as?: { state: 'failed'; reason: string },
): Promise<boolean> {
  return (await inserting(tx, { ...order, ...as })).length === 1
}

/** Does the same together with the next statement or the commit, which fails (`isTooLate`) where it would return false. */
export const insertOperationAhead = (tx: Tx, order: Order): void =>
  sendAhead(tx, orFail(inserting(tx, order).getSQL(), []))

const inserting = (tx: Tx, order: Order & { state?: 'failed'; reason?: string }) =>
  tx
    .insert(operations)
    .values({ requestId: requestId() ?? null, ...order })
    .onConflictDoNothing()
    .returning({ id: operations.id })

/** Stores orders together with the next statement or the commit. Those that are stored already stay as they are. */
export function insertOperations(tx: Tx, orders: readonly Order[]): void {
  if (orders.length === 0) return
  const rows = orders.map((order) => ({
    ...order,
    revision: order.revision?.toString() ?? null,
    leavesMicro: order.leavesMicro.toString(),
  }))
  const adding = sql`
    insert into ${operations} (id, kind, cause, wallet, payload, content_hash, revision,
      authorization_nonce, leaves_micro, request_id)
    select given.* from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as given (id text,
      kind text, cause text, wallet text, payload jsonb, "contentHash" text, revision numeric,
      "authorizationNonce" text, "leavesMicro" numeric, "requestId" text)
    on conflict do nothing`
  sendAhead(tx, adding)
}

/** Moves an operation to another state. Returns false if another transaction moved it first. */
export const moveOperation = async (
  tx: Tx,
  id: string,
  to: OperationState,
  set: PgUpdateSetSource<typeof operations>,
  from: readonly OperationState[] = statesBefore(lifecycle, to),
): Promise<boolean> => (await moving(tx, [id], to, set, from)).length === 1

/**
 * Moves operations together with the next statement or the commit, which fails (`isTooLate`) if another transaction moved
 * one of them first.
 */
export const moveOperationsAhead = (
  tx: Tx,
  ids: readonly string[],
  to: OperationState,
  set: PgUpdateSetSource<typeof operations>,
  from: readonly OperationState[],
): void => sendAhead(tx, orFail(moving(tx, ids, to, set, from).getSQL(), [], ids.length))

const moving = (
  tx: Tx,
  ids: readonly string[],
  to: OperationState,
  set: PgUpdateSetSource<typeof operations>,
  from: readonly OperationState[],
) =>
  tx
    .update(operations)
    .set({ ...set, state: to, updatedAt: sql`now()` })
    .where(
      and(
        isOneOf(operations.id, ids),
        // guard: an operation ends once
        inArray(operations.state, [...from]),
      ),
    )
    .returning({ id: operations.id })

/** Lets an operation wait; `reason` says why it may need manual review. */
export const postponeOperation = (
  db: Db,
  id: string,
  waitMs: number,
  failedTries: 0 | 1,
  reason: string | null = null,
) =>
  db
    .update(operations)
    .set({
      reason,
      notBefore: fromNow(waitMs),
      tries: sql`${operations.tries} + ${failedTries}`,
      updatedAt: sql`now()`,
    })
    .where(
      and(
        eq(operations.id, id),
        // guard: only a waiting operation is postponed
        eq(operations.state, 'waiting'),
      ),
    )

const other = sql.raw('"chain_relayer"."operation" as "other"')

/** Lanes keep no order among each other, so a decision waits while another of its kind on the wallet is assigned. */
const accompaniesVerdict = sql`(${operations.kind} in ('verify', 'freeze') and exists (select 1 from ${other}
  where other.kind = ${operations.kind} and other.wallet = ${operations.wallet}
  and other.state = 'assigned'))`

/**
 * What gives AUSD to a wallet waits until a freeze of the wallet that was ordered before is final. Lanes keep no order, so
 * the wallet's owner could otherwise move what was refunded before the freeze is final.
 */
const precedesFreeze = sql`(${operations.kind} in ('credit', 'repay') and exists (select 1 from ${other}
  where other.kind = 'freeze' and other.wallet = ${operations.wallet}
  and other.payload ->> 'frozen' = 'true' and ${isOpen({ state: sql`other.state` })}))`

/**
 * An automatic repayment waits while a payment of its wallet's debt, or an earlier automatic repayment, is on its way. It
 * would take the same debt from the borrower twice, and after the due date make a cycle late that was paid in time; or it
 * would revert, and its gas count against the wallet.
 */
const followsPayment = sql`(${operations.kind} = 'autorepay' and exists (select 1 from ${other}
  where other.wallet = ${operations.wallet} and (other.kind = 'repay' and ${isOpen({ state: sql`other.state` })}
    or other.kind = 'autorepay' and other.state = 'assigned')))`

/**
 * Assigns waiting operations to a nonce together with the transaction's commit, which fails (`isTooLate`) if one no longer
 * waits or conflicts with an open decision. For decisions the caller holds the wallets' locks, so that concurrent ones see
 * each other.
 */
export const assignOperations = (tx: Tx, ids: readonly string[], at: { lane: `0x${string}`; nonce: number }): void =>
  sendAhead(tx, orFail(assigning({ ids: [...ids], ...at }), [], ids.length))

const assigning = compiledQuery((db) =>
  db
    .update(operations)
    .set({
      ...placeholders(['lane', 'nonce']),
      state: 'assigned',
      reason: null,
      updatedAt: sql`now()`,
    })
    .where(
      and(
        isAmong,
        // guard: an operation gets a nonce once, while it is waiting
        eq(operations.state, 'waiting'),
        // guard: only one verdict of a wallet is in progress at a time
        not(accompaniesVerdict),
        // guard: nothing is given to a wallet while a freeze of it is not final
        not(precedesFreeze),
        // guard: a debt is not repaid automatically while a payment of it is on its way
        not(followsPayment),
      ),
    )
    .returning({ id: operations.id }),
)

/** Counts a repeated command of an operation that has ended. Returns undefined if it has not. */
export async function countRepeat(tx: Tx, id: string) {
  const [ended] = await tx
    .update(operations)
    .set({ repeats: sql`${operations.repeats} + 1` })
    .where(and(eq(operations.id, id), inArray(operations.state, ['settled', 'failed'])))
    .returning()
  return ended
}

/**
 * Returns operations that are due: first those that must precede the end of a hold, then freezes, then the oldest. A
 * revocation waits while the credit or repayment that it revokes is open, and a credit or repayment waits while a freeze
 * of its wallet is open. An automatic repayment waits while a payment of its debt is open. During a pause it returns only
 * `goesOn` and withdrawn verifications.
 */
export const findDue = async (db: PostgresJsDatabase, rowsMax: number): Promise<Operation[]> =>
  (await due(db).execute({ rowsMax })) as Operation[]

const due = prepared((db) =>
  db
    .select()
    .from(operations)
    .where(
      and(
        isWaiting,
        isOver(operations.notBefore, restMaxMs),
        // guard: an order about a hold waits until its credit is on the chain
        sql`not (${operations.kind} = 'revoke' and exists (select 1 from ${other}
          where other.kind in ('credit', 'repay')
          and other.cause = ${operations.payload} ->> 'refId'
          and ${isOpen({ state: sql`other.state` })}))`,
        not(accompaniesVerdict),
        // guard: nothing is given to a wallet while a freeze of it is not final
        not(precedesFreeze),
        // guard: a debt is not repaid automatically while a payment of it is on its way
        not(followsPayment),
        sql`(${inArray(operations.kind, [...goesOn])}
          or (${operations.kind} = 'verify' and ${operations.payload}->>'verified' = 'false')
          or not ${isPaused(pauses)})`,
      ),
    )
    .orderBy(urgency, asc(operations.createdAt), asc(operations.id))
    .limit(sql.placeholder('rowsMax'))
    .prepare('due'),
)

const urgency = sql`case when ${inArray(operations.kind, [...racing])} then 0
  when ${operations.kind} = 'freeze' then 1 else 2 end`

export async function newestRevision(db: Db, { kind, wallet }: Pick<Operation, 'kind' | 'wallet'>): Promise<bigint> {
  const rows = await db
    .select({ newest: sql<string>`coalesce(max(${operations.revision}), 0)::text` })
    .from(operations)
    .where(and(eq(operations.kind, kind), eq(operations.wallet, wallet)))
  return BigInt(rows[0]!.newest)
}

/** Returns signed transfers that have waited for longer than `transferEndsMs`, oldest first. */
export const findUndecided = async (db: Db, rowsMax: number): Promise<Operation[]> => {
  const isTransfer = inArray(operations.kind, ['take', 'send'])
  const isOld = lte(operations.createdAt, fromNow(-transferEndsMs))
  const rows = await db
    .select()
    .from(operations)
    .where(and(isWaiting, isTransfer, isOld))
    .orderBy(asc(operations.createdAt))
    .limit(rowsMax)
  return rows as Operation[]
}

/** A failed take or send whose authorization can still be used. */
export type Watched = Extract<Operation, { kind: 'take' | 'send' }>
export type FailedTake = Extract<Operation, { kind: 'take' }>

/** Claims failed transfers whose check is due. The claims expire, so instances share the work and replace a dead one. */
export async function takeWatched(db: Db, rowsMax: number, watchMs: number): Promise<Watched[]> {
  const rows = await leaseRows(db, operations, {
    id: operations.id,
    isDue: isOver(operations.watchAt, watchMs),
    order: [operations.watchAt],
    rowsMax,
    set: { watchAt: fromNow(watchMs) },
  })
  return rows as unknown as Watched[]
}

export async function findFailedTakes(db: Db, wallets: readonly `0x${string}`[]): Promise<FailedTake[]> {
  if (wallets.length === 0) return []
  const rows = await db
    .select()
    .from(operations)
    .where(
      and(
        isOneOf(operations.wallet, wallets),
        eq(operations.kind, 'take'),
        eq(operations.state, 'failed'),
        isNotNull(operations.authorizationNonce),
      ),
    )
  return rows as FailedTake[]
}

/** Ends the watch of a failed transfer. Returns false if another instance ended it first. */
export async function endWatch(db: Db, id: string): Promise<boolean> {
  const ended = await db
    .update(operations)
    .set({ watchAt: null })
    .where(and(eq(operations.id, id), isNotNull(operations.watchAt)))
    .returning({ id: operations.id })
  return ended.length === 1
}

export const countWatched = (db: Db): Promise<number> => db.$count(operations, isNotNull(operations.watchAt))

/** Finds the oldest operations by the time of their order, because a postponement is no progress. */
export const oldestOperations = (db: Db) => {
  const { id, state, createdAt: since } = operations
  const awaited = isOpen(operations)
  return findOldest<OperationState>(db, { table: operations, state, id, since, awaited })
}

export async function countOpen(db: Db) {
  const rows = await db
    .select({
      waiting: sql<number>`count(*) filter (where ${operations.state} = 'waiting')::int`,
      assigned: sql<number>`count(*) filter (where ${operations.state} = 'assigned')::int`,
      oldestOpenMs: sql<number | null>`(extract(epoch from now()
        - min(${operations.createdAt})) * 1000)::float8`,
    })
    .from(operations)
    .where(isOpen(operations))
  return rows[0]!
}
