import postgres, { type Sql } from 'postgres'
import type { Place } from '#infra/operations/place'
import { type Clock, systemClock } from '#platform/clock'
import { type Database, openDatabase } from '#platform/db/open'
import type { Log } from '#platform/log'

export type BooksContext = {
  /** Postgres as the role `books`. */
  readonly sql: Sql
  /** A separate connection, because drizzle changes how its client parses times. */
  readonly database: Database
  readonly place: Place
  readonly clock: Clock
}

export function openBooks(options: {
  databaseUrl: string
  place: Place
  log: Log
  onFatal: () => void
  clock?: Clock
}): BooksContext & AsyncDisposable {
  const { databaseUrl: url, place, log, onFatal, clock = systemClock } = options
  const name = 'books'
  const database = openDatabase({ ...{ url, name, log, onFatal }, max: 4 })
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
  return { sql, database, place, clock, [Symbol.asyncDispose]: close }
}
