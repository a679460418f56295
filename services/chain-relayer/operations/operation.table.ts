import { type SQLWrapper, sql } from 'drizzle-orm'
import { index, integer, jsonb, text, unique } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, quotedList, timestamps } from '#platform/db/columns'
import { schema } from '../schema.store'
import { type OperationKind, type OperationState, openStates, type Task } from './operation'

/**
 * Predicate for open operations. It spells the states out, because a parameter would keep Postgres from using the
 * index.
 */
export const isOpen = ({ state }: { state: SQLWrapper }) => sql`${state} in (${quotedList(openStates)})`

/** Operations, whose rows are never deleted so that repeats of a cause are recognised. */
export const operations = schema.table(
  'operation',
  {
    id: text('id').primaryKey(),
    kind: text('kind').$type<OperationKind>().notNull(),
    cause: text('cause').notNull(),
    wallet: addressColumn('wallet').notNull(),
    payload: jsonb('payload').$type<Task['payload']>().notNull(),
    contentHash: text('content_hash').notNull(),
    requestId: text('request_id'),
    revision: amountColumn('revision'),
    authorizationNonce: text('authorization_nonce').$type<`0x${string}`>(),
    leavesMicro: amountColumn('leaves_micro').notNull(),
    state: text('state').$type<OperationState>().notNull().default('waiting'),
    /** Lane of the transaction that last carried the operation. */
    lane: addressColumn('lane'),
    nonce: integer('nonce'),
    tries: integer('tries').notNull().default(0),
    notBefore: at('not_before').notNull().defaultNow(),
    txHash: text('tx_hash').$type<`0x${string}`>(),
    blockNumber: amountColumn('block_number'),
    blockHash: text('block_hash').$type<`0x${string}`>(),
    reason: text('reason'),
    /** Time of the next check of a failed transfer's authorization. */
    watchAt: at('watch_at'),
    /** Number of repeated commands, each of which is announced with a new message id. */
    repeats: integer('repeats').notNull().default(0),
    ...timestamps(),
  },
  (table) => [
    unique('operation_once').on(table.kind, table.cause),
    // The constraint keeps one transfer from funding two payouts.
    unique('operation_authorization_once').on(table.kind, table.wallet, table.authorizationNonce),
    index('operation_open').on(table.notBefore, table.createdAt).where(isOpen(table)),
    index('operation_open_of_wallet').on(table.wallet, table.kind).where(isOpen(table)),
    index('operation_watched').on(table.watchAt).where(sql`${table.watchAt} is not null`),
    index('operation_of_wallet').on(table.wallet, table.kind, table.createdAt, table.id),
    index('operation_out_of_treasury')
      .on(table.blockNumber)
      .where(sql`${table.kind} in ('credit', 'repay', 'return', 'giveback')`),
  ],
)
export const isWaiting = sql`${operations.state} = 'waiting'`

export type Operation = Omit<typeof operations.$inferSelect, 'kind' | 'payload'> & Task
