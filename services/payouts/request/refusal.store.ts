import { eq, type SQL, sql } from 'drizzle-orm'
import { integer, text } from 'drizzle-orm/pg-core'
import { at, textList } from '#platform/db/columns'
import type { Db, Tx } from '#platform/db/open'
import { schema } from '../schema.store'

/** Bank accounts that operators refused, or allowed again. They hold no number, only hashes whose keys are outside the database. */
export const refusedAccounts = schema.table('refused_accounts', {
  /** Name for operators: `acc_` and the hash under the first key of the time of the first refusal. */
  account: text('account').primaryKey(),
  /** Hashes of bank and number under every key of the time of the latest refusal, by which the account is recognised. */
  marks: text('marks').array().notNull(),
  channelCode: text('channel_code').notNull(),
  /** Time of the refusal, or null once the account was allowed again. */
  since: at('since'),
  /** Number of changes. */
  revision: integer('revision').notNull(),
  setBy: text('set_by').notNull(),
  reason: text('reason').notNull(),
  changedAt: at('changed_at').notNull().defaultNow(),
})
export type RefusedAccount = typeof refusedAccounts.$inferSelect

const hasOneOf = (marks: readonly string[]): SQL => sql`${refusedAccounts.marks} && ${textList(marks)}`

/** Returns true for a bank account with one of these marks that operators refuse. It is read in a statement that runs anyway. */
export const isRefusedAccount = (marks: readonly string[]): SQL<boolean> =>
  sql<boolean>`exists (select from ${refusedAccounts} where ${hasOneOf(marks)} and ${refusedAccounts.since} is not null)`

/** Finds the refusal of a bank account, one that stands before one that has ended. */
export async function findRefusal(db: Db, marks: readonly string[]): Promise<RefusedAccount | undefined> {
  const { since, changedAt } = refusedAccounts
  const rows = await db
    .select()
    .from(refusedAccounts)
    .where(hasOneOf(marks))
    .orderBy(sql`${since} is null, ${changedAt} desc`)
    .limit(1)
  return rows[0]
}

export async function findRefusalNamed(db: Db, account: string): Promise<RefusedAccount | undefined> {
  return (await db.select().from(refusedAccounts).where(eq(refusedAccounts.account, account)))[0]
}

export const storeRefusal = (
  tx: Tx,
  { isRefused, ...row }: Omit<RefusedAccount, 'since' | 'changedAt'> & { readonly isRefused: boolean },
) => {
  const { account, ...changed } = { ...row, since: isRefused ? sql`now()` : null, changedAt: sql`now()` }
  return tx
    .insert(refusedAccounts)
    .values({ account, ...changed })
    .onConflictDoUpdate({ target: refusedAccounts.account, set: changed })
}
