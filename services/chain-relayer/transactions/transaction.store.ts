import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import { index, integer, jsonb, primaryKey, text, unique } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, timestamps } from '#shared/db/columns'
import type { Db, Tx } from '#shared/db/open'
import { schema } from '../schema.store'
import type { TransactionOutcome, TransactionPurpose } from './transaction'

/** One row per nonce ever given out. It is stored, signed, before it is sent anywhere. */
export const transactions = schema.table(
  'transaction',
  {
    lane: addressColumn('lane').notNull(),
    nonce: integer('nonce').notNull(),
    purpose: text('purpose').$type<TransactionPurpose>().notNull(),
    /** The operations it carries; their order is their order in `many`. */
    operationIds: jsonb('operation_ids').$type<string[]>().notNull(),
    to: addressColumn('to').notNull(),
    data: text('data').$type<`0x${string}`>().notNull(),
    valueWei: amountColumn('value_wei').notNull(),
    /** Null while it is open. */
    outcome: text('outcome').$type<TransactionOutcome>(),
    txHash: text('tx_hash').$type<`0x${string}`>(),
    blockNumber: amountColumn('block_number'),
    blockHash: text('block_hash').$type<`0x${string}`>(),
    ...timestamps(),
  },
  (table) => [
    primaryKey({ columns: [table.lane, table.nonce] }),
    index('transaction_open').on(table.lane, table.nonce).where(sql`${table.outcome} is null`),
  ],
)

/** Every signed form of a transaction; any of them may be the one that is mined. */
export const attempts = schema.table(
  'attempt',
  {
    lane: addressColumn('lane').notNull(),
    nonce: integer('nonce').notNull(),
    attempt: integer('attempt').notNull(),
    /** A noop uses up the nonce without doing what the transaction was for. */
    purpose: text('purpose').$type<'call' | 'noop'>().notNull(),
    raw: text('raw').$type<`0x${string}`>().notNull(),
    hash: text('hash').$type<`0x${string}`>().notNull(),
    maxFeeWei: amountColumn('max_fee_wei').notNull(),
    priorityWei: amountColumn('priority_wei').notNull(),
    gas: amountColumn('gas').notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
    broadcasts: integer('broadcasts').notNull().default(0),
    broadcastAt: at('broadcast_at'),
    lastError: text('last_error'),
  },
  (table) => [
    primaryKey({ columns: [table.lane, table.nonce, table.attempt] }),
    unique('attempt_hash').on(table.hash),
  ],
)
export type Attempt = typeof attempts.$inferSelect
/** A transaction whose outcome is not final, with all its attempts, oldest first. */
export type OpenTransaction = typeof transactions.$inferSelect & { attempts: Attempt[] }

/** The open transactions of the lanes, in nonce order. */
export async function findOpen(
  db: Db,
  lanes: readonly `0x${string}`[],
): Promise<OpenTransaction[]> {
  if (lanes.length === 0) return []
  const rows = await db
    .select()
    .from(transactions)
    .innerJoin(
      attempts,
      and(eq(attempts.lane, transactions.lane), eq(attempts.nonce, transactions.nonce)),
    )
    .where(and(inArray(transactions.lane, [...lanes]), sql`${transactions.outcome} is null`))
    .orderBy(asc(transactions.lane), asc(transactions.nonce), asc(attempts.attempt))
  const open: OpenTransaction[] = []
  for (const row of rows) {
    const last = open.at(-1)
    if (last && last.lane === row.transaction.lane && last.nonce === row.transaction.nonce)
      last.attempts.push(row.attempt)
    else open.push({ ...row.transaction, attempts: [row.attempt] })
  }
  return open
}

export const insertTransaction = (tx: Tx, transaction: typeof transactions.$inferInsert) =>
  tx.insert(transactions).values(transaction)

export const insertAttempt = (tx: Tx, attempt: typeof attempts.$inferInsert) =>
  tx.insert(attempts).values(attempt)

/** What a send answered; only for the next decision, never a proof of anything. */
export const noteBroadcast = (db: Db, attempt: Attempt, error: string | null) =>
  db
    .update(attempts)
    .set({
      broadcasts: sql`${attempts.broadcasts} + 1`,
      broadcastAt: sql`now()`,
      lastError: error?.slice(0, 300) ?? null,
    })
    .where(eq(attempts.hash, attempt.hash))

/** Closes a transaction once; false when somebody else did. */
export async function closeTransaction(
  tx: Tx,
  open: Pick<OpenTransaction, 'lane' | 'nonce'>,
  final: {
    outcome: TransactionOutcome
    txHash: `0x${string}`
    blockNumber: bigint
    blockHash: `0x${string}`
  },
): Promise<boolean> {
  const closed = await tx
    .update(transactions)
    .set({ ...final, updatedAt: sql`now()` })
    .where(
      and(
        eq(transactions.lane, open.lane),
        eq(transactions.nonce, open.nonce),
        sql`${transactions.outcome} is null`,
      ),
    )
    .returning({ nonce: transactions.nonce })
  return closed.length === 1
}
