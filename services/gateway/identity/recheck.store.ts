import { and, asc, eq, lte, sql } from 'drizzle-orm'
import { index, integer, text } from 'drizzle-orm/pg-core'
import { addressColumn, at, isOneOf, timestamps } from '#shared/db/columns'
import type { Database, Db, Tx } from '#shared/db/open'
import { schema } from '../schema.store'
import { identities } from './identity.store'
import type { Progress } from './provider'

/** One row per wallet the identity provider is asked about: a link was given, or a verdict came. */
export const rechecks = schema.table(
  'identity_rechecks',
  {
    wallet: addressColumn('wallet').primaryKey(),
    /** Who can be asked: a provider knows nothing of another one's people. */
    provider: text('provider').notNull(),
    /** The newest link the person was given; null when a verdict came without one. */
    linkedAt: at('linked_at'),
    /** How far the provider last said they are, and when that was by its clock; null: it never did. */
    progress: text('progress').$type<Progress>(),
    progressedAt: at('progressed_at'),
    /** Not before then is the provider asked; null: no more. */
    nextCheckAt: at('next_check_at'),
    /** When the provider last answered. */
    checkedAt: at('checked_at'),
    /** Questions in a row without an answer. */
    failures: integer('failures').notNull().default(0),
    ...timestamps(),
  },
  (table) => [
    index('identity_rechecks_due').on(table.nextCheckAt),
    index('identity_rechecks_unanswered').on(table.failures).where(sql`${table.failures} > 0`),
  ],
)

type Asked = { wallet: `0x${string}`; provider: string; nextCheckAt: Date | null }

/** A link was given: from now on the provider is asked about the person. Repeatable. */
export const noteLink = (db: Db, { linkedAt, ...asked }: Asked & { linkedAt: Date }) =>
  note(db, asked, { linkedAt })

/** A verdict came: it is asked about too, and not later than was planned. */
export const noteVerdict = (tx: Tx, asked: Asked) => note(tx, asked, {})

const note = (db: Db, { wallet, provider, nextCheckAt }: Asked, link: { linkedAt?: Date }) =>
  db
    .insert(rechecks)
    .values({ wallet, provider, nextCheckAt, ...link })
    .onConflictDoUpdate({
      target: rechecks.wallet,
      set: {
        provider,
        ...link,
        // The sooner of both; `least` leaves nulls out.
        nextCheckAt: sql`least(${rechecks.nextCheckAt}, excluded.next_check_at)`,
        updatedAt: sql`now()`,
      },
    })

type Progressed = Asked & { progress: Progress; progressedAt: Date }

/** Notes how far a person is, unless something newer is known; a row that is there keeps its turn. */
export const noteProgress = (tx: Tx, { wallet, ...progressed }: Progressed) =>
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

/** Longer than asking about one person takes, so that another copy takes over only after a crash. */
const leaseMs = 120_000

/** Somebody to ask about, with what we held of them before the provider was asked. */
export type Due = Awaited<ReturnType<typeof leaseDue>>[number]

/** Takes the people who wait longest for a question; copies of the service share them out. */
export async function leaseDue(tx: Tx, provider: string, now: Date, rowsMax: number) {
  const due = await tx
    .select({ wallet: rechecks.wallet })
    .from(rechecks)
    .where(and(lte(rechecks.nextCheckAt, now), eq(rechecks.provider, provider)))
    .orderBy(asc(rechecks.nextCheckAt))
    .limit(rowsMax)
    .for('update', { skipLocked: true })
  if (due.length === 0) return []
  const wallets = due.map(({ wallet }) => wallet)
  const leasedUntil = new Date(now.getTime() + leaseMs)
  await tx
    .update(rechecks)
    .set({ nextCheckAt: leasedUntil })
    .where(isOneOf(rechecks.wallet, wallets))
  const rows = await tx
    .select({ recheck: rechecks, held: identities })
    .from(rechecks)
    .leftJoin(identities, eq(identities.wallet, rechecks.wallet))
    .where(isOneOf(rechecks.wallet, wallets))
  return rows.map((row) => ({ ...row, leasedUntil }))
}

/** Plans the next question, unless a new link or verdict planned it meanwhile. */
export const planNext = (
  db: Db,
  { recheck, leasedUntil }: Due,
  plan: { nextCheckAt: Date | null; failures: number; checkedAt?: Date },
) =>
  db
    .update(rechecks)
    .set({ ...plan, updatedAt: sql`now()` })
    .where(and(eq(rechecks.wallet, recheck.wallet), eq(rechecks.nextCheckAt, leasedUntil)))

/** What decides about the next question, as the rows are now. */
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

/** A figure for operators: about how many people there was no answer lately. */
export const countRechecks = (database: Database) =>
  database.read((db) =>
    db
      .select({ unanswered: sql<number>`count(*)::int` })
      .from(rechecks)
      .where(sql`${rechecks.failures} > 0`),
  )
