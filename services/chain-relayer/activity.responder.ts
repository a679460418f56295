import { and, desc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { type Answering, answering } from '#shared/bus/serve'
import type { Db } from '#shared/db/open'
import { ChainActivity } from '#shared/messages/chain'
import { ok } from '#shared/refusals'
import { type Entry, entryOf } from './activity'
import { operations } from './operation.store'
import type { Desk } from './questions'

const inFlightMax = 100

/** Ids of several services are merged into one list: bytes are an order all of them share. */
const causeBytes = sql`${operations.cause} collate "C"`

/** The sends of a wallet; takes and returns belong to the activity of their payout. */
export const activityAnswers = (desk: Pick<Desk, 'database'>): Answering[] => [
  answering(ChainActivity, ({ wallet, limit, before }) =>
    desk.database.read(async (db) => {
      const mine = and(
        eq(operations.kind, 'send'),
        eq(operations.wallet, wallet.toLowerCase() as `0x${string}`),
      )
      // The cause of a send is its id; the cursor is exclusive in the order (createdAt, id).
      const older = before
        ? sql`(${operations.createdAt}, ${causeBytes}) < (${before.createdAt}::timestamptz, ${before.id} collate "C")`
        : undefined
      const open = inArray(operations.state, ['waiting', 'assigned'])
      const [items, inFlight] = await Promise.all([
        findSends(db, and(mine, older), limit),
        findSends(db, and(mine, open), inFlightMax),
      ])
      return ok({ items, inFlight })
    }),
  ),
]

async function findSends(db: Db, where: SQL | undefined, rowsMax: number): Promise<Entry[]> {
  const rows = await db
    .select()
    .from(operations)
    .where(where)
    .orderBy(desc(operations.createdAt), sql`${causeBytes} desc`)
    .limit(rowsMax)
  return rows.map((row) => entryOf(row as Parameters<typeof entryOf>[0]))
}
