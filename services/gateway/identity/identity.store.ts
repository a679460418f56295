import { and, asc, eq, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import { index, integer, text } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, timestamps } from '#shared/db/columns'
import { lockNamed } from '#shared/db/lock'
import { findOldest } from '#shared/db/oldest.store'
import type { Database, Db, Tx } from '#shared/db/open'
import { schema } from '../schema.store'
import type { Identity, IdentityState } from './identity'

/** One row per wallet a verdict was ever given on. */
export const identities = schema.table(
  'identities',
  {
    wallet: addressColumn('wallet').primaryKey(),
    state: text('state').$type<IdentityState>().notNull(),
    provider: text('provider').notNull(),
    providerRef: text('provider_ref'),
    decidedAt: at('decided_at').notNull(),
    /** Of the newest order to the relayer; null when there was none. */
    revision: amountColumn('revision'),
    /** The chain says what the order asked for. */
    flagSettledAt: at('flag_settled_at'),
    dripOrderedAt: at('drip_ordered_at'),
    dripSettledAt: at('drip_settled_at'),
    /** The relayer gave up; a person has to look. */
    failedAt: at('failed_at'),
    failure: text('failure'),
    sweeps: integer('sweeps').notNull().default(0),
    /** Not before then is the row asked for again; null when nothing is awaited. */
    sweepAt: at('sweep_at'),
    ...timestamps(),
  },
  (table) => [
    index('identities_awaited').on(table.sweepAt).where(isNotNull(table.sweepAt)),
    index('identities_failed').on(table.failedAt).where(isNotNull(table.failedAt)),
  ],
)
/** A row as Postgres holds it. */
export type IdentityRow = typeof identities.$inferSelect

/** The row as the decision knows it, locked for this transaction, also when it is not there yet. */
export async function lockIdentity(tx: Tx, wallet: `0x${string}`): Promise<Identity | undefined> {
  await lockNamed(tx, `identity:${wallet}`)
  const [row] = await tx.select().from(identities).where(eq(identities.wallet, wallet))
  if (!row) return undefined
  return { state: row.state, decidedAtMs: row.decidedAt.getTime(), revision: row.revision }
}

/** A decision to be written down. */
export type Verdict = {
  wallet: `0x${string}`
  next: Identity
  provider: string
  providerRef: string | null
  /** A new order went out: it is awaited from now on. */
  ordered: boolean
}

/** Writes what was decided; a new order starts its waiting anew. */
export async function storeVerdict(tx: Tx, verdict: Verdict, sweepAt: Date): Promise<void> {
  const { wallet, next, provider, providerRef, ordered } = verdict
  const values = {
    state: next.state,
    provider,
    providerRef,
    decidedAt: new Date(next.decidedAtMs),
    revision: next.revision,
    ...(ordered ? { flagSettledAt: null, failedAt: null, failure: null, sweeps: 0, sweepAt } : {}),
  }
  await tx
    .insert(identities)
    .values({ wallet, ...values })
    .onConflictDoUpdate({
      target: identities.wallet,
      set: { ...values, updatedAt: sql`now()` },
    })
}

/** A drip that is still awaited keeps the row's turn in the sweeps. */
const sweepAtOfDrip = sql`case when ${identities.dripOrderedAt} is not null
  and ${identities.dripSettledAt} is null then ${identities.sweepAt} end`

/** Notes that the flag of this revision is on the chain; undefined when another one is awaited. */
export async function settleFlag(
  tx: Tx,
  wallet: `0x${string}`,
  revision: bigint,
): Promise<IdentityRow | undefined> {
  const awaited = and(
    eq(identities.wallet, wallet),
    eq(identities.revision, revision),
    isNull(identities.flagSettledAt),
  )
  const [row] = await tx
    .update(identities)
    .set({
      flagSettledAt: sql`now()`,
      sweepAt: sweepAtOfDrip,
      sweeps: 0,
      updatedAt: sql`now()`,
    })
    .where(awaited)
    .returning()
  return row
}

/** Notes that native coin was ordered; false when it was before, once per wallet. */
export async function orderDrip(tx: Tx, wallet: `0x${string}`, sweepAt: Date): Promise<boolean> {
  const rows = await tx
    .update(identities)
    .set({ dripOrderedAt: sql`now()`, sweepAt, sweeps: 0, updatedAt: sql`now()` })
    .where(and(eq(identities.wallet, wallet), isNull(identities.dripOrderedAt)))
    .returning({ wallet: identities.wallet })
  return rows.length === 1
}

/** A flag that is still awaited keeps the row's turn in the sweeps. */
const sweepAtOfFlag = sql`case when ${identities.flagSettledAt} is null
  then ${identities.sweepAt} end`

/** Notes that the wallet has its coin; repeatable. */
export const settleDrip = (tx: Tx, wallet: `0x${string}`) =>
  tx
    .update(identities)
    .set({ dripSettledAt: sql`now()`, sweepAt: sweepAtOfFlag, updatedAt: sql`now()` })
    .where(and(eq(identities.wallet, wallet), isNull(identities.dripSettledAt)))

/** The relayer will never do it: the waiting ends, for a person to take up. */
export const failIdentity = (tx: Tx, wallet: `0x${string}`, failure: string) =>
  tx
    .update(identities)
    .set({ failedAt: sql`now()`, failure, sweepAt: null, updatedAt: sql`now()` })
    .where(eq(identities.wallet, wallet))

/** Rows whose order stayed quiet for too long, the longest first. */
export const findAwaited = (database: Database, now: Date, rowsMax: number) =>
  database.read((db) =>
    db
      .select()
      .from(identities)
      .where(lt(identities.sweepAt, now))
      .orderBy(asc(identities.sweepAt))
      .limit(rowsMax),
  )

/** The row as it is now, locked; undefined when it is awaited no more, or for another time. */
export async function lockAwaited(tx: Tx, found: IdentityRow): Promise<IdentityRow | undefined> {
  const [row] = await tx
    .select()
    .from(identities)
    .where(eq(identities.wallet, found.wallet))
    .for('update')
  return row?.sweepAt && row.sweepAt.getTime() === found.sweepAt?.getTime() ? row : undefined
}

/** Counts a sweep and says when the next one is due; null: never. */
export const postpone = (tx: Tx, wallet: `0x${string}`, sweepAt: Date | null) =>
  tx
    .update(identities)
    .set({ sweepAt, sweeps: sql`${identities.sweeps} + 1` })
    .where(eq(identities.wallet, wallet))

/** The newest verdict on a wallet, undefined when there is none. */
export async function findIdentity(db: Db, wallet: `0x${string}`) {
  const [row] = await db.select().from(identities).where(eq(identities.wallet, wallet))
  return row
}

/** Whose order has been awaited longest, by the verdict that gave it. */
export const oldestAwaited = (db: Db) => {
  const { wallet: id, state, updatedAt: since, sweepAt } = identities
  const awaited = isNotNull(sweepAt)
  return findOldest<IdentityState>(db, { table: identities, ...{ state, id, since }, awaited })
}

/** Figures for operators: how many orders are awaited, and how many the relayer gave up. */
export const countIdentities = (database: Database) =>
  database.read((db) =>
    db
      .select({
        awaited: sql<number>`count(${identities.sweepAt})::int`,
        failed: sql<number>`count(${identities.failedAt})::int`,
      })
      .from(identities)
      .where(or(isNotNull(identities.sweepAt), isNotNull(identities.failedAt))),
  )
