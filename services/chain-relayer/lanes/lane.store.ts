import { and, asc, eq, getTableColumns, gt, inArray, isNull, not, or, type SQL, sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, type PgTable, primaryKey, text, unique } from 'drizzle-orm/pg-core'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import {
  addressColumn,
  amountColumn,
  at,
  fromNow,
  isOneOf,
  isOver,
  storableText,
  textList,
  timestamps,
} from '#platform/db/columns'
import { compiledQuery, keysOf, orFail, perKeys, placeholders, type SideWrite } from '#platform/db/compiled-query'
import { type Database, type Db, sendAhead, type Tx } from '#platform/db/open'
import { prepared } from '#platform/db/prepared'
import type { Broadcasts } from '../context'
import { isWaiting, operations } from '../operations/operation.table'
import { schema } from '../schema.store'

/** Lanes, the only source of nonces, because on Monad `pending` equals `latest`. */
export const lanes = schema.table('lane', {
  address: addressColumn('address').primaryKey(),
  nextNonce: integer('next_nonce').notNull(),
  holder: text('holder'),
  /** Number of the lease, by which writes of an earlier holder are refused. */
  epoch: bigint('epoch', { mode: 'number' }).notNull().default(0),
  leasedUntil: at('leased_until'),
  fault: text('fault'),
  ...timestamps(),
})
export type Lane = typeof lanes.$inferSelect
/** A lease, which every transaction that writes to the lane verifies. */
export type Lease = { readonly address: `0x${string}`; readonly epoch: number }

export type TransactionPurpose = 'op' | 'batch' | 'noop'
/** Results of a nonce. `foreign` means that a transaction that we did not sign used it. */
export const transactionOutcomes = ['ok', 'reverted', 'noop', 'foreign'] as const
export type TransactionOutcome = (typeof transactionOutcomes)[number]

/** One row per assigned nonce, stored with its signed attempt before any broadcast. */
export const transactions = schema.table(
  'transaction',
  {
    lane: addressColumn('lane').notNull(),
    nonce: integer('nonce').notNull(),
    purpose: text('purpose').$type<TransactionPurpose>().notNull(),
    /** Operations in their order in `many`. */
    operationIds: jsonb('operation_ids').$type<string[]>().notNull(),
    to: addressColumn('to').notNull(),
    data: text('data').$type<`0x${string}`>().notNull(),
    valueWei: amountColumn('value_wei').notNull(),
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

/** Signed versions of a transaction, any of which may be mined. */
export const attempts = schema.table(
  'attempt',
  {
    lane: addressColumn('lane').notNull(),
    nonce: integer('nonce').notNull(),
    attempt: integer('attempt').notNull(),
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
  (table) => [primaryKey({ columns: [table.lane, table.nonce, table.attempt] }), unique('attempt_hash').on(table.hash)],
)
export type Attempt = typeof attempts.$inferSelect
/** A transaction without an outcome, with its attempts, oldest first. */
export type OpenTransaction = typeof transactions.$inferSelect & { attempts: Attempt[] }

/** Duration of a lease, in ms: longer than a slow round, and short enough that a killed process is soon replaced. */
const leaseMs = 5_000
/** Age in ms from which a lease is renewed. */
export const renewAfterMs = 1_500

export type KnownLane = Lane & {
  readonly isFree: boolean
  /** True if the lease of the holder lasts for longer than a round. */
  readonly isFresh: boolean
  readonly isBusy: boolean
  /** True if an operation waits, for whichever lane. */
  readonly hasWaiting: boolean
}

export const findLanes = (db: PostgresJsDatabase): Promise<Lane[]> => all(db).execute()

const all = prepared((db) => db.select().from(lanes).prepare('lanes'))

export type KnownLanes = {
  readonly lanes: readonly KnownLane[]
  /** Open transactions of the lanes that the holder had before. */
  readonly open: readonly OpenTransaction[]
}

/** Renews the leases of a holder that end soon. Reads all lanes, and the holder's open transactions. */
export async function renewLanes(db: PostgresJsDatabase, holder: string): Promise<KnownLanes> {
  const rows = await renewing(db).execute({ holder })
  const known = new Map(rows.map(({ lane }) => [lane.address, lane]))
  const isOpen = (row: (typeof rows)[number]) => row.transaction !== null && row.attempt !== null
  return { lanes: [...known.values()], open: openIn(rows.filter(isOpen) as OpenRow[]) }
}

/** The same throughout a statement, which renews what it then reads. */
const isFresh = sql<boolean>`coalesce(${lanes.leasedUntil} > now() + ${leaseMs - renewAfterMs} * interval '1 millisecond'
  and not ${isOver(lanes.leasedUntil, leaseMs)}, false)`

const renewing = prepared((db) => {
  const isOwn = eq(lanes.holder, sql.placeholder('holder'))
  const renewed = db.$with('renewed').as(
    db
      .update(lanes)
      .set({ leasedUntil: fromNow(leaseMs), updatedAt: sql`now()` })
      .where(and(isOwn, not(isFresh)))
      .returning({ address: lanes.address }),
  )
  return db
    .with(renewed)
    .select({
      lane: {
        ...getTableColumns(lanes),
        isFree: sql<boolean>`coalesce(${isOver(lanes.leasedUntil, leaseMs)}, true)`,
        isFresh: sql<boolean>`${isFresh} or ${lanes.address} in (select address from ${renewed})`,
        isBusy: sql<boolean>`exists (select from ${transactions} busy
          where busy.lane = ${lanes.address} and busy.outcome is null)`,
        hasWaiting: sql<boolean>`exists (select from ${operations} where ${isWaiting})`,
      },
      transaction: transactions,
      attempt: attempts,
    })
    .from(lanes)
    .leftJoin(transactions, and(isOwn, eq(transactions.lane, lanes.address), isNull(transactions.outcome)))
    .leftJoin(attempts, and(eq(attempts.lane, transactions.lane), eq(attempts.nonce, transactions.nonce)))
    .orderBy(asc(lanes.address), asc(transactions.nonce), asc(attempts.attempt))
    .prepare('renewing')
})

export const insertLane = (database: Database, address: `0x${string}`, nextNonce: number) =>
  database.run((db) => db.insert(lanes).values({ address, nextNonce }).onConflictDoNothing())

/** Leases free lanes and renews held ones. A free lane gets a new epoch; a renewed one keeps its own. */
export const leaseLanes = (database: Database, addresses: readonly `0x${string}`[], holder: string): Promise<Lane[]> =>
  database.run((db) =>
    db
      .update(lanes)
      .set({
        holder,
        // guard: a new holder of a lane has a new epoch
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
            // guard: a held lane is not leased to another instance
            isOver(lanes.leasedUntil, leaseMs),
          ),
        ),
      )
      .returning(),
  )

export const releaseLanes = (database: Database, holder: string, addresses?: readonly `0x${string}`[]) =>
  database.run((db) =>
    db
      .update(lanes)
      .set({ leasedUntil: null, holder: null })
      .where(and(eq(lanes.holder, holder), addresses ? inArray(lanes.address, [...addresses]) : undefined)),
  )

const held = (lease: Lease, holder: string) =>
  and(
    eq(lanes.address, lease.address),
    // guard: a nonce is drawn by the holder of its lane
    eq(lanes.holder, holder),
    // guard: a nonce is drawn under the newest epoch of its lane
    eq(lanes.epoch, lease.epoch),
    // guard: a nonce is drawn only during the lease
    gt(lanes.leasedUntil, sql`now()`),
  )

/** Records a fault of a lane. Returns false if the lease was lost or a nonce was assigned since the check. */
export async function recordFault(
  database: Database,
  lane: Lease & { readonly nextNonce: number },
  holder: string,
  fault: string | null,
): Promise<boolean> {
  // guard: a fault is recorded only by the holder of its lane
  const isSame = and(held(lane, holder), eq(lanes.nextNonce, lane.nextNonce))
  const noted = await database.run((db) =>
    db.update(lanes).set({ fault }).where(isSame).returning({ address: lanes.address }),
  )
  return noted.length === 1
}

/**
 * Takes the next nonce of a lane together with the next statement or the commit, which fails (`isTooLate`) if the lease was lost,
 * the lane has a fault, or its nonce is another by now. A nonce is never given back. Returns a function that returns true once
 * the nonce is taken.
 */
export function drawNonce(tx: Tx, lane: Lease & Pick<Lane, 'nextNonce'>, holder: string): () => boolean {
  let isDrawn = false
  const drawing = tx
    .update(lanes)
    .set({ nextNonce: lane.nextNonce + 1, updatedAt: sql`now()` })
    .where(
      and(
        held(lane, holder),
        // guard: a nonce is given out once
        eq(lanes.nextNonce, lane.nextNonce),
        // guard: a faulty lane gives out no nonce
        isNull(lanes.fault),
      ),
    )
    .returning({ next: lanes.nextNonce })
  sendAhead(tx, orFail(drawing.getSQL(), []), () => {
    isDrawn = true
  })
  return () => isDrawn
}

export async function stillHeld(tx: Tx, lease: Lease, holder: string): Promise<boolean> {
  const rows = await tx.select({ address: lanes.address }).from(lanes).where(held(lease, holder)).for('update')
  return rows.length === 1
}

export async function findOpen(db: PostgresJsDatabase, lanes: readonly `0x${string}`[]): Promise<OpenTransaction[]> {
  return lanes.length === 0 ? [] : openIn(await openOf(db).execute({ lanes }))
}

type OpenRow = { readonly transaction: typeof transactions.$inferSelect; readonly attempt: Attempt }

function openIn(rows: readonly OpenRow[]): OpenTransaction[] {
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
    .innerJoin(attempts, and(eq(attempts.lane, transactions.lane), eq(attempts.nonce, transactions.nonce)))
    .where(and(sql`${transactions.lane} = any(${sql.placeholder('lanes')})`, isNull(transactions.outcome)))
    .orderBy(asc(transactions.lane), asc(transactions.nonce), asc(attempts.attempt))
    .prepare('open'),
)

type NewTransaction = Pick<
  typeof transactions.$inferSelect,
  'lane' | 'nonce' | 'purpose' | 'operationIds' | 'to' | 'data' | 'valueWei'
>
type NewAttempt = Omit<Attempt, 'createdAt' | 'broadcasts' | 'broadcastAt' | 'lastError'>

/** Stores a transaction and its first attempt together with the next statement or the commit. */
export function insertTransaction(tx: Tx, transaction: NewTransaction, attempt: NewAttempt): void {
  const stored = addTransaction(keysOf(transaction))(transaction)
  const signed = addAttempt(keysOf(attempt))(attempt)
  sendAhead(tx, sql`with stored as (${stored}) ${signed}`)
}

/** Returns an attempt as it is read after it was stored now. */
export const attemptNow = (attempt: NewAttempt, now: Date): Attempt => ({
  ...attempt,
  createdAt: now,
  broadcasts: 0,
  broadcastAt: null,
  lastError: null,
})

/** Returns a transaction as it is read after it was stored now. */
export const openNow = (transaction: NewTransaction, attempt: NewAttempt, now: Date): OpenTransaction => ({
  ...transaction,
  outcome: null,
  txHash: null,
  blockNumber: null,
  blockHash: null,
  createdAt: now,
  updatedAt: now,
  attempts: [attemptNow(attempt, now)],
})

const insertInto = (table: PgTable) =>
  perKeys((keys) => compiledQuery((db) => db.insert(table).values(placeholders(keys))))
const addTransaction = insertInto(transactions)
const addAttempt = insertInto(attempts)

export const insertAttempt = (tx: Tx, attempt: NewAttempt) => tx.insert(attempts).values(attempt)

export async function isAttempt(db: Db, hash: `0x${string}`): Promise<boolean> {
  const rows = await db.select({ hash: attempts.hash }).from(attempts).where(eq(attempts.hash, hash))
  return rows.length > 0
}

export type Sent = Broadcasts & Pick<Attempt, 'hash'>

/**
 * Records broadcasts for operators. An `error` of null means that a node accepted the transaction, which is a hint and no
 * proof.
 */
export const recordBroadcasts = (db: Db, sent: readonly Sent[]) => db.execute(recording(sent))

const recording = (sent: readonly Sent[]): SQL => {
  const counts = sent.map(({ count }) => String(count))
  const times = sent.map(({ at: sentAt }) => new Date(sentAt).toISOString())
  const errors = sent.map(({ error }) => (error === null ? null : storableText(error).slice(0, 300)))
  return sql`
    update ${attempts} set broadcasts = said.count::int, broadcast_at = said.at::timestamptz, last_error = said.error
    from unnest(${textList(sent.map(({ hash }) => hash))}, ${textList(counts)}, ${textList(times)},
      ${sql.param(errors)}::text[]) as said (hash, count, at, error)
    where ${attempts.hash} = said.hash`
}

/**
 * Closes a transaction with its final result, and records its broadcasts, together with the next statement or the commit,
 * which fails (`isTooLate`) if it was already closed.
 */
export const closeTransaction = (
  tx: Tx,
  { lane, nonce }: Pick<OpenTransaction, 'lane' | 'nonce'>,
  final: {
    outcome: TransactionOutcome
    txHash: `0x${string}`
    blockNumber: bigint
    blockHash: `0x${string}`
  },
  sent: readonly Sent[],
  booked: SideWrite | undefined,
): void => sendAhead(tx, orFail(closing({ ...final, lane, nonce }), [recording(sent), booked]))

const closing = compiledQuery((db) =>
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
        // guard: a transaction ends once
        isNull(transactions.outcome),
      ),
    )
    .returning({ nonce: transactions.nonce }),
)
