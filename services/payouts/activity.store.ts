import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import type { Database } from '#shared/db/open'
import { type Cashout, cashouts } from './cashout.store.ts'
import { inFlightStates } from './cashout.ts'

const inFlightMax = 100
/** Ids of several services are merged into one list: bytes are an order all of them share. */
const idBytes = sql`${cashouts.id} collate "C"`

/** One page of a wallet's cash-outs, newest first; `before` is exclusive. */
export const findPage = (
  database: Database,
  asked: { wallet: string; limit: number; before?: { createdAt: string; id: string } },
): Promise<Cashout[]> =>
  database.read((db) => {
    const { wallet, limit, before } = asked
    const older = before
      ? sql`(${cashouts.createdAt}, ${idBytes}) < (${before.createdAt}::timestamptz, ${before.id} collate "C")`
      : undefined
    return db
      .select()
      .from(cashouts)
      .where(and(eq(cashouts.wallet, wallet.toLowerCase() as `0x${string}`), older))
      .orderBy(desc(cashouts.createdAt), sql`${idBytes} desc`)
      .limit(limit)
  })

/** Everything of a wallet that is under way, newest first, at most 100. */
export const findInFlight = (database: Database, wallet: string): Promise<Cashout[]> =>
  database.read((db) =>
    db
      .select()
      .from(cashouts)
      .where(
        and(
          eq(cashouts.wallet, wallet.toLowerCase() as `0x${string}`),
          inArray(cashouts.state, [...inFlightStates]),
        ),
      )
      .orderBy(desc(cashouts.createdAt), sql`${idBytes} desc`)
      .limit(inFlightMax),
  )

/** How many are in each state, and since when the oldest of those in flight waits. */
export async function countStates(database: Database) {
  const rows = await database.read((db) =>
    db
      .select({
        state: cashouts.state,
        count: sql<number>`count(*)::int`,
        oldestMs: sql<number>`(extract(epoch from now() - min(${cashouts.createdAt})) * 1000)::float8`,
      })
      .from(cashouts)
      .groupBy(cashouts.state),
  )
  const waiting = rows.filter(({ state }) => inFlightStates.includes(state))
  return {
    states: Object.fromEntries(rows.map(({ state, count }) => [state, count])),
    inFlight: waiting.reduce((sum, { count }) => sum + count, 0),
    oldestInFlightMs: Math.round(Math.max(0, ...waiting.map(({ oldestMs }) => oldestMs))),
  }
}
