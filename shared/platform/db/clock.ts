import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import type { Log } from '#platform/log'
import { startLoop } from '#platform/loop'

/** Longest response in ms; a slower one is too imprecise. */
const tookMaxMs = 1_000
/** Difference in ms between two readings that no drift explains: the clock was set, or this machine stood still. */
const stepMs = 5_000

/**
 * Returns a condition for rows since `readAt`. It includes rows within the error of the instance's clock by which
 * `readAt` was read.
 */
export const maybeSince = (column: SQLWrapper, readAt: Date): SQL =>
  sql`${column} >= ${new Date(readAt.getTime() - tookMaxMs).toISOString()}::timestamptz`

type DatabaseClock = AsyncDisposable & {
  readonly clock: Clock
  /** Number of times that the clock of the database was set since this was opened. */
  readonly steps: () => number
}

/**
 * Opens the clock of the database. It advances by monotonic time between two readings, so a wrong wall clock has no
 * effect; before the first reading it is this machine's clock. Anything compared with row times or stored next to them
 * must use it. A step of the database's clock raises an alarm.
 */
export async function openDatabaseClock(database: Database, log: Log, everyMs = 10_000): Promise<DatabaseClock> {
  let startedAtMs = Date.now() - performance.now()
  let isRead = false
  let steps = 0
  const read = async () => {
    const askedAt = performance.now()
    const [row] = await database.read((db) =>
      db.execute<{ ms: number }>(sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`),
    )
    const answeredAt = performance.now()
    if (answeredAt - askedAt > tookMaxMs) return
    const before = startedAtMs
    startedAtMs = row!.ms - (askedAt + answeredAt) / 2
    const aheadMs = Math.round(startedAtMs - before)
    if (isRead && Math.abs(aheadMs) > stepMs) {
      steps += 1
      log.alarm({ aheadMs }, 'clock of Postgres was set')
    }
    isRead = true
  }
  await read().catch((error) => log.warn({ err: error }, 'database clock read failed, using local clock'))
  const loop = startLoop({ name: 'clock', everyMs, log, work: read })
  return {
    clock: () => Math.floor(startedAtMs + performance.now()),
    steps: () => steps,
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  }
}
