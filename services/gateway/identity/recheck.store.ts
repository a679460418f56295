import { and, eq, not, sql } from 'drizzle-orm'
import { index, integer, text } from 'drizzle-orm/pg-core'
import { addressColumn, at, isOneOf, isOver, timeFrom, timestamps } from '#platform/db/columns'
import { leaseRows } from '#platform/db/lease-rows'
import type { Database, Db, Tx } from '#platform/db/open'
import { schema } from '../schema.store'
import { identities } from './identity.store'
import type { Progress } from './provider'

/** Rechecks: one row per wallet with a link or a verdict. */
export const rechecks = schema.table(
  'identity_rechecks',
  {
    wallet: addressColumn('wallet').primaryKey(),
    /** Provider of the link or verdict; each provider knows only its own users. */
    provider: text('provider').notNull(),
    /** Time of the newest link; null if a verdict came without one. */
    linkedAt: at('linked_at'),
    /** Last reported progress, and its time by the provider's clock. */
    progress: text('progress').$type<Progress>(),
    progressedAt: at('progressed_at'),
    /** Time of the next recheck; null if there is none. */
    nextCheckAt: at('next_check_at'),
    checkedAt: at('checked_at'),
    /** Number of consecutive rechecks without an answer. */
    failures: integer('failures').notNull().default(0),
    ...timestamps(),
  },
  (table) => [
    index('identity_rechecks_due').on(table.nextCheckAt),
    index('identity_rechecks_unanswered').on(table.failures).where(sql`${table.failures} > 0`),
  ],
)

type PlannedRecheck = { wallet: `0x${string}`; provider: string; nextCheckAt: Date | null }

/** Records a link, which starts the rechecks. Idempotent. */
export const recordLink = (db: Db, { linkedAt, ...asked }: PlannedRecheck & { linkedAt: Date }) =>
  record(db, asked, { linkedAt })

/** Records a verdict. The next recheck may come sooner by it, never later. */
export const recordVerdict = (tx: Tx, asked: PlannedRecheck) => record(tx, asked, {})

const record = (db: Db, { wallet, provider, nextCheckAt }: PlannedRecheck, link: { linkedAt?: Date }) =>
  db
    .insert(rechecks)
    .values({ wallet, provider, nextCheckAt, ...link })
    .onConflictDoUpdate({
      target: rechecks.wallet,
      set: {
        provider,
        ...link,
        // The earlier time counts; `least` ignores nulls.
        nextCheckAt: sql`least(${rechecks.nextCheckAt}, excluded.next_check_at)`,
        updatedAt: sql`now()`,
      },
    })

type Progressed = PlannedRecheck & { progress: Progress; progressedAt: Date }

/** Records progress. Keeps newer progress, and the next recheck of an existing row. */
export const recordProgress = (tx: Tx, { wallet, ...progressed }: Progressed) =>
  tx
    .insert(rechecks)
    .values({ wallet, ...progressed })
    .onConflictDoUpdate({
      target: rechecks.wallet,
      set: {
        progress: progressed.progress,
        progressedAt: progressed.progressedAt,
        updatedAt: sql`now()`,
      },
      setWhere: sql`${rechecks.progressedAt} is null
        or ${rechecks.progressedAt} < excluded.progressed_at`,
    })

/**
 * Duration of the lease on a row, in ms: longer than a recheck, so another instance takes over only after a
 * crash.
 */
const leaseMs = 120_000

const hasVerdict = sql`exists (
  select from ${identities} where ${identities.wallet} = ${rechecks.wallet})`

/** Leased row, with the verdict that was stored before the provider was asked. */
export type Due = Awaited<ReturnType<typeof leaseDue>>[number]

/**
 * Leases the longest overdue rows. Wallets with a verdict come first: links of strangers, which cost them
 * nothing, must not delay the withdrawal of an approval.
 */
export async function leaseDue(
  db: Db,
  provider: string,
  { now, longestMs, rowsMax }: { now: Date; longestMs: number; rowsMax: number },
) {
  const leasedUntil = new Date(now.getTime() + leaseMs)
  const leased = await leaseRows(db, rechecks, {
    id: rechecks.wallet,
    isDue: and(isOver(rechecks.nextCheckAt, longestMs, timeFrom(now)), eq(rechecks.provider, provider)),
    order: [not(hasVerdict), rechecks.nextCheckAt],
    rowsMax,
    set: { nextCheckAt: leasedUntil },
  })
  if (leased.length === 0) return []
  const wallets = leased.map(({ wallet }) => wallet)
  const held = await db.select().from(identities).where(isOneOf(identities.wallet, wallets))
  const heldOf = new Map(held.map((one) => [one.wallet, one]))
  return leased.map((recheck) => ({ recheck, held: heldOf.get(recheck.wallet) ?? null, leasedUntil }))
}

/** Plans the next recheck, unless a new link or verdict has planned one since. */
export const planNext = (
  db: Db,
  { recheck, leasedUntil }: Due,
  plan: { nextCheckAt: Date | null; failures: number; checkedAt?: Date },
) =>
  db
    .update(rechecks)
    .set({ ...plan, updatedAt: sql`now()` })
    .where(and(eq(rechecks.wallet, recheck.wallet), eq(rechecks.nextCheckAt, leasedUntil)))

export async function standingOf(tx: Tx, wallet: `0x${string}`) {
  const [row] = await tx
    .select({
      state: identities.state,
      decidedAt: identities.decidedAt,
      linkedAt: rechecks.linkedAt,
    })
    .from(rechecks)
    .leftJoin(identities, eq(identities.wallet, rechecks.wallet))
    .where(eq(rechecks.wallet, wallet))
  return {
    state: row?.state ?? undefined,
    decidedAt: row?.decidedAt ?? null,
    linkedAt: row?.linkedAt ?? null,
  }
}

export const countRechecks = (database: Database) =>
  database.read((db) =>
    db.select({ unanswered: sql<number>`count(*)::int` }).from(rechecks).where(sql`${rechecks.failures} > 0`),
  )
