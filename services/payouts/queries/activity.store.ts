import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import { findOldest } from '#platform/db/oldest.store'
import type { Database, Db } from '#platform/db/open'
import { cursorValues, newestFirst, type PageCursor } from '#platform/db/paging'
import { prepared } from '#platform/db/prepared'
import type { CashoutState } from '../cashout'
import { awaited, type Cashout, cashouts, isOpen } from '../cashout.table'

const inFlightMax = 100
const newest = newestFirst(cashouts.createdAt, cashouts.id)

const mine = and(eq(cashouts.wallet, sql.placeholder('wallet')), sql`${cashouts.state} not in ('opening', 'expired')`)

const activity = prepared((db) => {
  const rows = (isOfPage: boolean) =>
    db
      .select({
        ...getTableColumns(cashouts),
        isOfPage: sql<boolean>`${sql.raw(String(isOfPage))}`,
      })
      .from(cashouts)
  const page = rows(true)
    .where(and(mine, newest.afterCursor))
    .orderBy(...newest.order)
    .limit(sql.placeholder('limit'))
  const open = rows(false)
    .where(and(mine, isOpen(cashouts)))
    .orderBy(...newest.order)
    .limit(inFlightMax)
  return unionAll(page, open).prepare('activity')
})

export async function listActivity(
  database: Database,
  { wallet, limit, before }: { wallet: `0x${string}`; limit: number; before?: PageCursor },
): Promise<{ page: Cashout[]; open: Cashout[] }> {
  const values = { wallet, limit, ...cursorValues(before) }
  const rows = await database.read((db) => activity(db).execute(values))
  const of = (isOfPage: boolean) => rows.filter((row) => row.isOfPage === isOfPage)
  return { page: of(true), open: of(false) }
}

const item = prepared((db) =>
  db
    .select()
    .from(cashouts)
    .where(and(mine, eq(cashouts.id, sql.placeholder('id'))))
    .prepare('activity_item'),
)

export async function findListed(
  database: Database,
  asked: { wallet: `0x${string}`; id: string },
): Promise<Cashout | undefined> {
  return (await database.read((db) => item(db).execute(asked)))[0]
}

export const oldestCashouts = (db: Db) => {
  const { id, state, updatedAt: since } = cashouts
  return findOldest<CashoutState>(db, { table: cashouts, state, id, since, awaited })
}

export async function countStates(database: Database) {
  const rows = await database.read((db) =>
    db
      .select({
        state: cashouts.state,
        count: sql<number>`count(*)::int`,
        oldestMs: sql<number>`(extract(epoch from now() - min(${cashouts.createdAt})) * 1000)::float8`,
      })
      .from(cashouts)
      .where(isOpen(cashouts))
      .groupBy(cashouts.state),
  )
  return {
    states: Object.fromEntries(rows.map(({ state, count }) => [state, count])),
    inFlight: rows.reduce((sum, { count }) => sum + count, 0),
    oldestInFlightMs: Math.round(Math.max(0, ...rows.map(({ oldestMs }) => oldestMs))),
  }
}
