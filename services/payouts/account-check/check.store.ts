import { and, count, desc, eq, gte, isNull, type SQL, sql } from 'drizzle-orm'
import { check, index, text } from 'drizzle-orm/pg-core'
import { addressColumn, at, isOneOf, midnightInJakarta, quotedList } from '#platform/db/columns'
import type { Db, Tx } from '#platform/db/open'
import type { HolderVerdict } from '../provider'
import { schema } from '../schema.store'

const verdicts: readonly HolderVerdict[] = ['match', 'no_match', 'cannot_tell']

/** Account checks of the last day. They hold no bank data, only hashes whose key is outside the database. */
export const accountChecks = schema.table(
  'account_checks',
  {
    id: text('id').primaryKey(),
    wallet: addressColumn('wallet').notNull(),
    /** Hash of wallet, account and name; empty after an erasure. */
    requestMark: text('request_mark').notNull(),
    /** Hash of the account; empty after an erasure. */
    accountMark: text('account_mark').notNull(),
    /** Verdict of the provider; null until it has answered. */
    verdict: text('verdict').$type<HolderVerdict>(),
    askedAt: at('asked_at').notNull().defaultNow(),
  },
  (table) => [
    index('account_checks_of_wallet').on(table.wallet, table.askedAt),
    index('account_checks_of_account').on(table.accountMark, table.askedAt),
    index('account_checks_asked').on(table.askedAt),
    check('account_checks_verdict', sql`${table.verdict} in (${quotedList(verdicts)})`),
  ],
)
export type AccountCheck = typeof accountChecks.$inferSelect

const isToday = gte(accountChecks.askedAt, midnightInJakarta)

async function countWhere(db: Db, which?: SQL): Promise<number> {
  const rows = await db.select({ count: count() }).from(accountChecks).where(and(which, isToday))
  return rows[0]!.count
}

export const countChecksOf = (db: Db, wallet: `0x${string}`) => countWhere(db, eq(accountChecks.wallet, wallet))
export const countChecksTo = (db: Db, marks: readonly string[]) =>
  countWhere(db, isOneOf(accountChecks.accountMark, marks))
export const countChecks = (db: Db) => countWhere(db)

/** Finds the latest check of this day in Jakarta with the same request. */
export async function findCheck(db: Db, wallet: `0x${string}`, requestMark: string) {
  const { askedAt, id, verdict } = accountChecks
  const isSame = and(eq(accountChecks.wallet, wallet), eq(accountChecks.requestMark, requestMark), isToday)
  // A check that was asked before the clock was set back is not in progress either, so its distance in time counts.
  const ageMs = sql<number>`abs(extract(epoch from now() - ${askedAt}) * 1000)::float8`
  const rows = await db.select({ id, verdict, ageMs }).from(accountChecks).where(isSame).orderBy(desc(askedAt)).limit(1)
  return rows[0]
}

export const insertCheck = (tx: Tx, row: Pick<AccountCheck, 'id' | 'wallet' | 'requestMark' | 'accountMark'>) =>
  tx.insert(accountChecks).values(row)

export const storeVerdict = (db: Db, id: string, verdict: HolderVerdict) =>
  db
    .update(accountChecks)
    .set({ verdict })
    .where(and(eq(accountChecks.id, id), isNull(accountChecks.verdict)))
