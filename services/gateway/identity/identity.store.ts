import { and, asc, type Column, eq, isNotNull, isNull, or, sql } from 'drizzle-orm'
import { index, integer, text } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, isOver, timeFrom, timestamps } from '#platform/db/columns'
import { lockNamed } from '#platform/db/lock'
import { findOldest } from '#platform/db/oldest.store'
import type { Database, Db, Tx } from '#platform/db/open'
import { schema } from '../schema.store'
import type { Identity, IdentityState } from './identity'

/** Wallets with a verdict. */
export const identities = schema.table(
  'identities',
  {
    wallet: addressColumn('wallet').primaryKey(),
    state: text('state').$type<IdentityState>().notNull(),
    provider: text('provider').notNull(),
    providerRef: text('provider_ref'),
    decidedAt: at('decided_at').notNull(),
    /**
     * Time of the first verification, by which this wallet holds its person's record. It stays even after an
     * erasure.
     */
    firstVerifiedAt: at('first_verified_at'),
    /** For `duplicate`: the wallet with the person's record; null if it is none of ours. */
    sameAs: addressColumn('same_as'),
    /** Wallets of the same person by the provider's latest answer. */
    named: text('named').array().notNull().default(sql`'{}'`),
    /** Revision of the newest order to the relayer. */
    revision: amountColumn('revision'),
    /** Time at which the ordered flag was on the chain. */
    flagSettledAt: at('flag_settled_at'),
    /** Time at which the relayer gave up the flag, which ends its sweeps. */
    flagFailedAt: at('flag_failed_at'),
    dripOrderedAt: at('drip_ordered_at'),
    dripSettledAt: at('drip_settled_at'),
    /** Time at which the relayer gave up the flag or the coin, which then needs manual review. */
    failedAt: at('failed_at'),
    failure: text('failure'),
    sweeps: integer('sweeps').notNull().default(0),
    /** Time of the next sweep; null if nothing is awaited. */
    checkAt: at('check_at'),
    ...timestamps(),
  },
  (table) => [
    index('identities_awaited').on(table.checkAt).where(isNotNull(table.checkAt)),
    index('identities_duplicate').on(table.decidedAt).where(sql`${table.state} = 'duplicate'`),
    index('identities_named').using('gin', table.named),
    index('identities_failed').on(table.failedAt).where(isNotNull(table.failedAt)),
  ],
)
export type IdentityRow = typeof identities.$inferSelect

const newFlag = { flagSettledAt: null, flagFailedAt: null }

/** Locks the wallet for this transaction, even without a row. */
export async function lockIdentity(tx: Tx, wallet: `0x${string}`): Promise<Identity | undefined> {
  lockNamed(tx, `identity:${wallet}`)
  const [row] = await tx.select().from(identities).where(eq(identities.wallet, wallet))
  if (!row) return undefined
  return { state: row.state, decidedAtMs: row.decidedAt.getTime(), revision: row.revision }
}

export type StoredVerdict = {
  wallet: `0x${string}`
  next: Identity
  provider: string
  providerRef: string | null
  sameAs: `0x${string}` | null
  ordered: boolean
}

export async function storeVerdict(tx: Tx, verdict: StoredVerdict, checkAt: Date): Promise<void> {
  const { wallet, next, provider, providerRef, sameAs, ordered } = verdict
  const values = {
    state: next.state,
    provider,
    providerRef,
    sameAs,
    decidedAt: new Date(next.decidedAtMs),
    revision: next.revision,
    ...(ordered ? { ...newFlag, failedAt: null, failure: null, sweeps: 0, checkAt } : {}),
  }
  const firstVerifiedAt = next.state === 'verified' ? sql`clock_timestamp()` : null
  await tx
    .insert(identities)
    .values({ wallet, ...values, firstVerifiedAt })
    .onConflictDoUpdate({
      target: identities.wallet,
      set: {
        ...values,
        firstVerifiedAt: sql`coalesce(${identities.firstVerifiedAt}, excluded.first_verified_at)`,
        updatedAt: sql`now()`,
      },
    })
}

/** Keeps the sweeps going for a drip that is ordered but not settled, once the flag is no longer awaited. */
const checkAtOfDrip = (checkAt: Date) => sql`case when ${identities.dripOrderedAt} is not null
  and ${identities.dripSettledAt} is null then ${checkAt.toISOString()}::timestamptz end`

const unlessFlagFailed = (column: Column) => sql`case when ${identities.flagFailedAt} is null then ${column} end`

/** Records that the flag is on the chain. Returns undefined if another revision is awaited. */
export async function settleFlag(
  tx: Tx,
  wallet: `0x${string}`,
  revision: bigint,
  checkAt: Date,
): Promise<IdentityRow | undefined> {
  const awaited = and(
    eq(identities.wallet, wallet),
    // guard: an outcome on the chain belongs to the newest order
    eq(identities.revision, revision),
    isNull(identities.flagSettledAt),
  )
  const [row] = await tx
    .update(identities)
    .set({
      flagSettledAt: sql`now()`,
      flagFailedAt: null,
      failedAt: unlessFlagFailed(identities.failedAt),
      failure: unlessFlagFailed(identities.failure),
      checkAt: checkAtOfDrip(checkAt),
      sweeps: 0,
      updatedAt: sql`now()`,
    })
    .where(awaited)
    .returning()
  return row
}

/** Records the order of the drip. Returns false if it was already ordered. */
export async function orderDrip(tx: Tx, wallet: `0x${string}`, checkAt: Date): Promise<boolean> {
  const rows = await tx
    .update(identities)
    .set({ dripOrderedAt: sql`now()`, checkAt, sweeps: 0, updatedAt: sql`now()` })
    .where(
      and(
        eq(identities.wallet, wallet),
        // guard: a wallet gets its native coin once
        isNull(identities.dripOrderedAt),
      ),
    )
    .returning({ wallet: identities.wallet })
  return rows.length === 1
}

const checkAtOfFlag = sql`case when ${identities.flagSettledAt} is null
  and ${identities.flagFailedAt} is null then ${identities.checkAt} end`

export const settleDrip = (tx: Tx, wallet: `0x${string}`) =>
  tx
    .update(identities)
    .set({ dripSettledAt: sql`now()`, checkAt: checkAtOfFlag, updatedAt: sql`now()` })
    .where(and(eq(identities.wallet, wallet), isNull(identities.dripSettledAt)))

/** Ends the sweeps of the flag, which then needs manual review. */
export const failFlag = (tx: Tx, wallet: `0x${string}`, failure: string, checkAt: Date) =>
  tx
    .update(identities)
    .set({
      failedAt: sql`now()`,
      flagFailedAt: sql`now()`,
      failure,
      checkAt: checkAtOfDrip(checkAt),
      sweeps: 0,
      updatedAt: sql`now()`,
    })
    .where(eq(identities.wallet, wallet))

/** Records the failure of the drip; a flag order is still awaited. Returns false if the wallet had coin before. */
export async function failDrip(tx: Tx, wallet: `0x${string}`, failure: string): Promise<boolean> {
  const rows = await tx
    .update(identities)
    .set({ failedAt: sql`now()`, failure, checkAt: checkAtOfFlag, updatedAt: sql`now()` })
    .where(and(eq(identities.wallet, wallet), isNull(identities.dripSettledAt)))
    .returning({ wallet: identities.wallet })
  return rows.length === 1
}

/** Renews a failed flag: the next sweep orders it under a new revision. Returns false unless the flag failed. */
export async function renewFlag(tx: Tx, wallet: `0x${string}`): Promise<boolean> {
  const rows = await tx
    .update(identities)
    .set({
      ...newFlag,
      failedAt: null,
      failure: null,
      sweeps: 0,
      revision: sql`${identities.revision} + 1`,
      checkAt: sql`now()`,
      updatedAt: sql`now()`,
    })
    .where(and(eq(identities.wallet, wallet), isNotNull(identities.flagFailedAt)))
    .returning({ wallet: identities.wallet })
  return rows.length === 1
}

export const findAwaited = (database: Database, now: Date, longestMs: number, rowsMax: number) =>
  database.read((db) =>
    db
      .select()
      .from(identities)
      .where(isOver(identities.checkAt, longestMs, timeFrom(now)))
      .orderBy(asc(identities.checkAt))
      .limit(rowsMax),
  )

/** Locks an awaited row. Returns undefined if its sweep time has changed. */
export async function lockAwaited(tx: Tx, found: IdentityRow): Promise<IdentityRow | undefined> {
  const [row] = await tx.select().from(identities).where(eq(identities.wallet, found.wallet)).for('update')
  return row?.checkAt && row.checkAt.getTime() === found.checkAt?.getTime() ? row : undefined
}

export const postpone = (tx: Tx, wallet: `0x${string}`, checkAt: Date | null) =>
  tx
    .update(identities)
    .set({ checkAt, sweeps: sql`${identities.sweeps} + 1` })
    .where(eq(identities.wallet, wallet))

/** Postpones a sweep after an error, without counting it. Does nothing if the row's sweep time has changed. */
export const postponeUncounted = (db: Db, { wallet, checkAt }: IdentityRow, until: Date) =>
  db
    .update(identities)
    .set({ checkAt: until })
    .where(and(eq(identities.wallet, wallet), eq(identities.checkAt, checkAt!)))

export async function findIdentity(db: Db, wallet: `0x${string}`) {
  const [row] = await db.select().from(identities).where(eq(identities.wallet, wallet))
  return row
}

export const oldestAwaited = (db: Db) => {
  const { wallet: id, state, updatedAt: since, checkAt } = identities
  const awaited = isNotNull(checkAt)
  return findOldest<IdentityState>(db, { table: identities, state, id, since, awaited })
}

export const countIdentities = (database: Database) =>
  database.read((db) =>
    db
      .select({
        awaited: sql<number>`count(${identities.checkAt})::int`,
        failed: sql<number>`count(${identities.failedAt})::int`,
      })
      .from(identities)
      .where(or(isNotNull(identities.checkAt), isNotNull(identities.failedAt))),
  )
