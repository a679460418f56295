import { and, asc, eq, getTableColumns, gt, inArray, isNull, lte, or, sql } from 'drizzle-orm'
import {
  bigint,
  index,
  integer,
  jsonb,
  type PgTable,
  primaryKey,
  text,
  unique,
} from 'drizzle-orm/pg-core'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { type Beside, built, keysOf, perKeys, placeholders, withBeside } from '#shared/db/built'
import { addressColumn, amountColumn, at, fromNow, isOneOf, timestamps } from '#shared/db/columns'
import type { Database, Db, Tx } from '#shared/db/open'
import { prepared } from '#shared/db/prepared'
import { schema } from '../schema.store'

/**
 * A key that sends. Nonces come from here and from nowhere else: on Monad `pending` is `latest`.
 */
export const lanes = schema.table('lane', {
  address: addressColumn('address').primaryKey(),
  nextNonce: integer('next_nonce').notNull(),
  holder: text('holder'),
  /** Rises with every new holder: what an earlier holder still tries to write is refused. */
  epoch: bigint('epoch', { mode: 'number' }).notNull().default(0),
  leasedUntil: at('leased_until'),
  /** Why it gives out no nonces, for a person. */
  fault: text('fault'),
  ...timestamps(),
})
export type Lane = typeof lanes.$inferSelect
/** The right to use a lane, proven again in every transaction that writes to it. */
export type Lease = { readonly address: `0x${string}`; readonly epoch: number }

/** `op` carries one operation, `batch` several through `many`, `noop` none. */
export type TransactionPurpose = 'op' | 'batch' | 'noop'
/**
 * At finality: it did its work, it did nothing, or a noop or somebody else's transaction took its
 * nonce.
 */
export const transactionOutcomes = ['ok', 'reverted', 'noop', 'foreign'] as const
export type TransactionOutcome = (typeof transactionOutcomes)[number]

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

/** Long enough for a slow round, short enough that a killed process is soon replaced. */
const leaseMs = 5_000
/**
 * So old it is renewed: by each round that has nothing to do, and by some of those that follow
 * closely.
 */
const renewAfterMs = 1_500

/** A lane as a round finds it. */
export type KnownLane = Lane & {
  /** Nobody holds it now. */
  readonly isFree: boolean
  /** Its lease need not be renewed yet. */
  readonly isFresh: boolean
  /** Some transaction of it is open. */
  readonly isBusy: boolean
}

/** Every lane that was ever used here. */
export const findLanes = (db: PostgresJsDatabase): Promise<KnownLane[]> => known(db).execute()

const known = prepared((db) =>
  db
    .select({
      ...getTableColumns(lanes),
      isFree: sql<boolean>`coalesce(${lanes.leasedUntil} <= now(), true)`,
      isFresh: sql<boolean>`coalesce(${lanes.leasedUntil} > ${fromNow(leaseMs - renewAfterMs)}, false)`,
      isBusy: sql<boolean>`exists (select from ${transactions}
        where ${transactions.lane} = ${lanes.address} and ${transactions.outcome} is null)`,
    })
    .from(lanes)
    .prepare('known'),
)

/** A lane that was never used here begins at the chain's count. */
export const insertLane = (database: Database, address: `0x${string}`, nextNonce: number) =>
  database.run((db) => db.insert(lanes).values({ address, nextNonce }).onConflictDoNothing())

/**
 * Takes those of the lanes that nobody holds (a new epoch), and holds on to the holder's (the same
 * one). Answers those it has now.
 */
export const leaseLanes = (
  database: Database,
  addresses: readonly `0x${string}`[],
  holder: string,
): Promise<Lane[]> =>
  database.run((db) =>
    db
      .update(lanes)
      .set({
        holder,
        epoch: sql`${lanes.epoch} + case when ${lanes.holder} = ${holder} then 0 else 1 end`,
        leasedUntil: fromNow(leaseMs),
        updatedAt: sql`now()`,
      })
      .where(
        and(
          isOneOf(lanes.address, addresses),
          or(
            eq(lanes.holder, holder),
            isNull(lanes.leasedUntil),
            lte(lanes.leasedUntil, sql`now()`),
          ),
        ),
      )
      .returning(),
  )

/**
 * Ends leases, all of a holder's or those of some lanes, so that the next process need not wait for
 * them.
 */
export const releaseLanes = (
  database: Database,
  holder: string,
  addresses?: readonly `0x${string}`[],
) =>
  database.run((db) =>
    db
      .update(lanes)
      .set({ leasedUntil: null, holder: null })
      .where(
        and(
          eq(lanes.holder, holder),
          addresses ? inArray(lanes.address, [...addresses]) : undefined,
        ),
      ),
  )

const held = (lease: Lease, holder: string) =>
  and(
    eq(lanes.address, lease.address),
    eq(lanes.holder, holder),
    eq(lanes.epoch, lease.epoch),
    gt(lanes.leasedUntil, sql`now()`),
  )

/**
 * Notes what is wrong with a lane, or that nothing is. False when it was found about rows that are
 * not these any more: the lease was lost meanwhile, or a nonce was given out.
 */
export async function noteFault(
  database: Database,
  lane: Lease & { readonly nextNonce: number },
  holder: string,
  fault: string | null,
): Promise<boolean> {
  const isSame = and(held(lane, holder), eq(lanes.nextNonce, lane.nextNonce))
  const noted = await database.run((db) =>
    db.update(lanes).set({ fault }).where(isSame).returning({ address: lanes.address }),
  )
  return noted.length === 1
}

/** Gives out the next nonce; undefined when the lease was lost. Never given back. */
export async function drawNonce(tx: Tx, lease: Lease, holder: string): Promise<number | undefined> {
  const rows = await tx
    .update(lanes)
    .set({ nextNonce: sql`${lanes.nextNonce} + 1`, updatedAt: sql`now()` })
    .where(and(held(lease, holder), isNull(lanes.fault)))
    .returning({ next: lanes.nextNonce })
  return rows[0] && rows[0].next - 1
}

/** Whether the lease is still held; locks the row until the transaction ends. */
export async function stillHeld(tx: Tx, lease: Lease, holder: string): Promise<boolean> {
  const rows = await tx
    .select({ address: lanes.address })
    .from(lanes)
    .where(held(lease, holder))
    .for('update')
  return rows.length === 1
}

/** The open transactions of the lanes, in nonce order. */
export async function findOpen(
  db: PostgresJsDatabase,
  lanes: readonly `0x${string}`[],
): Promise<OpenTransaction[]> {
  if (lanes.length === 0) return []
  const rows = await openOf(db).execute({ lanes })
  const open: OpenTransaction[] = []
  for (const row of rows) {
    const last = open.at(-1)
    if (last && last.lane === row.transaction.lane && last.nonce === row.transaction.nonce)
      last.attempts.push(row.attempt)
    else open.push({ ...row.transaction, attempts: [row.attempt] })
  }
  return open
}

const openOf = prepared((db) =>
  db
    .select()
    .from(transactions)
    .innerJoin(
      attempts,
      and(eq(attempts.lane, transactions.lane), eq(attempts.nonce, transactions.nonce)),
    )
    .where(
      and(
        sql`${transactions.lane} = any(${sql.placeholder('lanes')})`,
        isNull(transactions.outcome),
      ),
    )
    .orderBy(asc(transactions.lane), asc(transactions.nonce), asc(attempts.attempt))
    .prepare('open'),
)

type NewAttempt = Omit<typeof attempts.$inferInsert, 'createdAt' | 'broadcastAt'>

/** Stores a transaction with its first attempt. */
export function insertTransaction(
  tx: Tx,
  transaction: typeof transactions.$inferInsert,
  attempt: NewAttempt,
) {
  const stored = addTransaction(keysOf(transaction))(transaction)
  const signed = addAttempt(keysOf(attempt))(attempt)
  return tx.execute(sql`with stored as (${stored}) ${signed}`)
}

const insertInto = (table: PgTable) =>
  perKeys((keys) => built((db) => db.insert(table).values(placeholders(keys))))
const addTransaction = insertInto(transactions)
const addAttempt = insertInto(attempts)

export const insertAttempt = (tx: Tx, attempt: NewAttempt) => tx.insert(attempts).values(attempt)

/** Whether a lane of ours signed this transaction. */
export async function isAttempt(db: Db, hash: `0x${string}`): Promise<boolean> {
  const rows = await db
    .select({ hash: attempts.hash })
    .from(attempts)
    .where(eq(attempts.hash, hash))
  return rows.length > 0
}

/** What sends answered, null for a yes; only for the next decision, never a proof of anything. */
export const noteBroadcasts = (
  db: Db,
  answers: readonly { hash: `0x${string}`; error: string | null }[],
) => {
  const hashes = sql.param(answers.map(({ hash }) => hash))
  const errors = sql.param(answers.map(({ error }) => error?.slice(0, 300) ?? null))
  return db.execute(sql`
    update ${attempts} set broadcasts = broadcasts + 1, broadcast_at = now(), last_error = said.error
    from unnest(${hashes}::text[], ${errors}::text[]) as said (hash, error)
    where ${attempts.hash} = said.hash`)
}

/** Closes a transaction once, with what is written beside it; false when somebody else did. */
export async function closeTransaction(
  tx: Tx,
  { lane, nonce }: Pick<OpenTransaction, 'lane' | 'nonce'>,
  final: {
    outcome: TransactionOutcome
    txHash: `0x${string}`
    blockNumber: bigint
    blockHash: `0x${string}`
  },
  beside: Beside | undefined,
): Promise<boolean> {
  const closed = await tx.execute(withBeside(closing({ ...final, lane, nonce }), [beside]))
  return closed.length === 1
}

const closing = built((db) =>
  db
    .update(transactions)
    .set({
      ...placeholders(['outcome', 'txHash', 'blockNumber', 'blockHash']),
      updatedAt: sql`now()`,
    })
    .where(
      and(
        eq(transactions.lane, sql.placeholder('lane')),
        eq(transactions.nonce, sql.placeholder('nonce')),
        isNull(transactions.outcome),
      ),
    )
    .returning({ nonce: transactions.nonce }),
)
