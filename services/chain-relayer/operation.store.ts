import { and, eq, inArray, sql } from 'drizzle-orm'
import { index, integer, jsonb, text, unique } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, timestamps } from '#shared/db/columns'
import type { Db, Tx } from '#shared/db/open'
import { statesBefore } from '#shared/lifecycle'
import { type Kind, lifecycle, type OperationState, type Task } from './operation'
import type { Order } from './order'
import { schema } from './schema.store'

/** One row per order, for ever: what repeats of the same cause are measured against. */
export const operations = schema.table(
  'operation',
  {
    id: text('id').primaryKey(),
    kind: text('kind').$type<Kind>().notNull(),
    cause: text('cause').notNull(),
    wallet: addressColumn('wallet').notNull(),
    payload: jsonb('payload').$type<Task['payload']>().notNull(),
    contentHash: text('content_hash').notNull(),
    revision: amountColumn('revision'),
    authorizationNonce: text('authorization_nonce').$type<`0x${string}`>(),
    leavesMicro: amountColumn('leaves_micro').notNull(),
    state: text('state').$type<OperationState>().notNull().default('waiting'),
    /** The transaction that bears it, or bore it last. */
    lane: addressColumn('lane'),
    nonce: integer('nonce'),
    /** How often it could not be done, for reasons that may pass. */
    tries: integer('tries').notNull().default(0),
    notBefore: at('not_before').notNull().defaultNow(),
    txHash: text('tx_hash').$type<`0x${string}`>(),
    blockNumber: amountColumn('block_number'),
    blockHash: text('block_hash').$type<`0x${string}`>(),
    reason: text('reason'),
    /** When a failed take is looked at again, in case its authorization was used; null: never. */
    watchAt: at('watch_at'),
    /** How often the outcome was said again: makes a message of its own out of each time. */
    repeats: integer('repeats').notNull().default(0),
    ...timestamps(),
  },
  (table) => [
    unique('operation_once').on(table.kind, table.cause),
    // Two payouts must never be paid out of one transfer.
    unique('operation_authorization_once').on(table.kind, table.wallet, table.authorizationNonce),
    index('operation_open')
      .on(table.notBefore, table.createdAt)
      .where(sql`${table.state} in ('waiting', 'assigned')`),
    index('operation_watched').on(table.watchAt).where(sql`${table.watchAt} is not null`),
    index('operation_of_wallet').on(table.wallet, table.kind, table.createdAt, table.id),
  ],
)
export type Operation = Omit<typeof operations.$inferSelect, 'kind' | 'payload'> & Task

export async function findOperation(db: Db, id: string): Promise<Operation | undefined> {
  const rows = await db.select().from(operations).where(eq(operations.id, id))
  return rows[0] as Operation | undefined
}

export const findOperations = async (db: Db, ids: readonly string[]): Promise<Operation[]> =>
  (await db
    .select()
    .from(operations)
    .where(inArray(operations.id, [...ids]))) as Operation[]

/**
 * The final block in which this ref id was credited or repaid, as far as we know; 0: none. A state
 * of the chain before it says nothing about the hold of that money.
 */
export async function blockOfRef(db: Db, refId: string): Promise<bigint> {
  const rows = await db
    .select({ block: sql<string>`coalesce(max(${operations.blockNumber}), 0)::text` })
    .from(operations)
    .where(
      and(
        inArray(operations.kind, ['credit', 'repay']),
        eq(operations.cause, refId),
        eq(operations.state, 'settled'),
      ),
    )
  return BigInt(rows[0]!.block)
}

/** The operation that an order asks for: new, or the one it asked for before. */
export async function insertOperation(
  tx: Tx,
  order: Order,
  as?: { state: 'failed'; reason: string },
): Promise<boolean> {
  const rows = await tx
    .insert(operations)
    .values({ ...order, ...as })
    .onConflictDoNothing()
    .returning({ id: operations.id })
  return rows.length === 1
}

/** The guarded step: nothing moves, and false is returned, when a race was lost. */
export async function moveOperation(
  tx: Tx,
  id: string,
  to: OperationState,
  set: Partial<typeof operations.$inferInsert>,
  from: readonly OperationState[] = statesBefore(lifecycle, to),
): Promise<boolean> {
  const moved = await tx
    .update(operations)
    .set({ ...set, state: to, updatedAt: sql`now()` })
    .where(and(eq(operations.id, id), inArray(operations.state, [...from])))
    .returning({ id: operations.id })
  return moved.length === 1
}

/** Leaves it waiting, to be looked at again later. `tries` counts up by `failedTries`. */
export const postponeOperation = (db: Db, id: string, waitMs: number, failedTries: 0 | 1) =>
  db
    .update(operations)
    .set({
      notBefore: sql`now() + ${waitMs} * interval '1 millisecond'`,
      tries: sql`${operations.tries} + ${failedTries}`,
      updatedAt: sql`now()`,
    })
    .where(and(eq(operations.id, id), eq(operations.state, 'waiting')))
