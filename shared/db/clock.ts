import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import type { Log } from '#shared/log'
import { startLoop } from '#shared/loop'

const everyMs = 10_000
/** An answer that took longer says too little about when it was given. */
const tookMaxMs = 1_000

/**
 * Whether the time in `column` may be at `readAt` or later, which a copy's clock told: that may be
 * ahead of the database's, or of another copy's, by the time an answer may take. What may have come
 * since counts as if it had.
 */
export const maybeSince = (column: SQLWrapper, readAt: Date): SQL =>
  sql`${column} >= ${new Date(readAt.getTime() - tookMaxMs).toISOString()}::timestamptz`

/** The clock that a service tells the time by, until it is disposed. */
export type DatabaseClock = AsyncDisposable & { readonly clock: Clock }

/**
 * The database's clock, told without asking it each time: between two readings the time that this
 * process has run is counted, so that its own wall clock, wrong or set anew, decides nothing. The
 * times of rows are the database's, and all copies of a service share it; what is compared with them
 * or stored beside them has to be of the same clock. Before a first reading it is this machine's.
 */
export async function openDatabaseClock(database: Database, log: Log): Promise<DatabaseClock> {
  let startedAtMs = Date.now() - performance.now()
  const read = async () => {
    const askedAt = performance.now()
    const [row] = await database.read((db) =>
      db.execute<{ ms: number }>(
        sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
      ),
    )
    const answeredAt = performance.now()
    if (answeredAt - askedAt > tookMaxMs) return
    startedAtMs = row!.ms - (askedAt + answeredAt) / 2
  }
  await read().catch((error) => log.warn({ err: error }, 'the time could not be read yet'))
  const loop = startLoop({ name: 'clock', everyMs, log, work: read })
  return {
    clock: () => Math.floor(startedAtMs + performance.now()),
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  }
}
