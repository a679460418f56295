import { sql as statement } from 'drizzle-orm'
import postgres, { type Sql } from 'postgres'
import type { Place } from '#infra/operations/place'
import type { Clock } from '#platform/clock'
import { openDatabaseClock } from '#platform/db/clock'
import { type Database, openDatabase } from '#platform/db/open'
import type { Vital } from '#platform/health'
import type { Log } from '#platform/log'

export type BooksContext = {
  /** Connection to Postgres in the role `books`. */
  readonly sql: Sql
  /** Second connection, because drizzle changes how its client parses times. */
  readonly database: Database
  readonly place: Place
  /** The clock of the database, which also dates the rows. */
  readonly clock: Clock
  /** Number of times that the clock was seen set. Undefined if nobody watches it. */
  readonly clockSteps?: () => number
}

type Options = { databaseUrl: string; place: Place; log: Log; onFatal: () => void }

/**
 * Asks Postgres over the connections for short statements. A comparison and a verification of seals can keep both of `sql` for many
 * minutes, in which a probe would take the process for dead, and the next one would begin with the same two.
 */
export const booksVital = ({ database }: Pick<BooksContext, 'database'>): Vital => ({
  name: 'postgres',
  ask: () => database.read((db) => db.execute(statement`select 1`)),
})

export async function openBooks(options: Options): Promise<BooksContext & AsyncDisposable> {
  const books = connectBooks(options)
  const time = await openDatabaseClock(books.database, options.log)
  const close = async () => {
    await time[Symbol.asyncDispose]()
    await books[Symbol.asyncDispose]()
  }
  return { ...books, clock: time.clock, clockSteps: time.steps, [Symbol.asyncDispose]: close }
}

export function connectBooks(options: Options): Omit<BooksContext, 'clock'> & AsyncDisposable {
  const { databaseUrl: url, place, log, onFatal } = options
  const name = 'books'
  const database = openDatabase({ url, name, log, onFatal, max: 4 })
  const sql = postgres(url, {
    max: 2,
    connect_timeout: 5,
    onnotice: () => {},
    connection: { application_name: name, statement_timeout: 30_000 },
  })
  const close = async () => {
    await sql.end({ timeout: 2 })
    await database[Symbol.asyncDispose]()
  }
  return { sql, database, place, [Symbol.asyncDispose]: close }
}
