import type { SQLWrapper } from 'drizzle-orm'
import { DrizzleQueryError } from 'drizzle-orm/errors'
import type { PgDialect } from 'drizzle-orm/pg-core'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres, { type Options, type Sql, type TransactionSql } from 'postgres'
import { type Listener, takeAnnouncements } from '#platform/db/after-commit'
import { DeadlinePassed, within } from '#platform/deadline'
import type { Log } from '#platform/log'
import { counter, quickSeconds, timer } from '#platform/metrics/measures'
import { openOutage } from '#platform/outage'
import { inSpan } from '#platform/tracing/spans'

export type Tx = Parameters<Parameters<PostgresJsDatabase['transaction']>[0]>[0]
export type Db = PostgresJsDatabase | Tx

export type Database = AsyncDisposable & {
  /** Reads with a single statement, as `run` writes with one. */
  readonly read: <T>(work: (db: PostgresJsDatabase) => PromiseLike<T>) => Promise<T>
  readonly run: <T>(work: (db: PostgresJsDatabase) => PromiseLike<T>) => Promise<T>
  /**
   * Runs a transaction. If it throws `DeadlinePassed`, the transaction may have committed.
   *
   * It waits for Postgres where its work awaits a result: BEGIN travels with the first statement, what is sent ahead with the
   * next one or with the COMMIT, and statements that are started together share a round trip.
   */
  readonly transaction: <T>(work: (tx: Tx) => T | Promise<T>) => Promise<T>
  /** Listens to announcements of this process's transactions, which arrive after their commits. */
  readonly listen: (listener: Listener) => void
}

/** Options with that of infra/patches/postgres@3.4.9.patch, which is called for each round trip. */
type PatchedOptions = Options<Record<string, never>> & { readonly onsync: () => void }

/** Name in timeout errors, by which `isAway` recognises them. */
const asked = 'the database'

/** Deadline of a call in ms, longer than the server-side timeouts, so that the server ends it first. */
const callDeadlineMs = 8_000
/** Number of consecutive calls with neither response nor error, after which a new connection is tried. */
const overdueMax = 5
/**
 * Interval of reconnects in seconds. The driver's own backoff grows to 20 s, so calls would time out although Postgres
 * is up again.
 */
const reconnectSeconds = 0.5

const words = { kind: 'client', attributes: { 'db.system.name': 'postgresql' } } as const

const callKinds = ['read', 'write', 'transaction'] as const
type CallKind = (typeof callKinds)[number]

const calls = timer({
  what: 'database_call_duration',
  help: 'Duration of a Postgres call in seconds, including the wait for a connection; a transaction is one call.',
  labels: { kind: callKinds, outcome: ['done', 'failed', 'overdue'] },
  buckets: quickSeconds,
})

const roundTrips = counter({
  what: 'database_round_trips',
  help: 'Number of times that the process sent something to Postgres and waited for the response.',
  labels: {},
})

/**
 * Opens the database. On a black-holed connection, queries of postgres.js 3.4.9 hang until the kernel gives up
 * (measured). So every call has a deadline. After several timeouts in a row `onFatal` ends the process, provided that a
 * new connection works: while Postgres is down, a restart would not help.
 */
export function openDatabase(options: {
  url: string
  name: string
  log: Log
  onFatal: () => void
  max?: number
  callDeadlineMs?: number
  lockTimeoutMs?: number
}): Database {
  const deadlineMs = options.callDeadlineMs ?? callDeadlineMs
  const { max = 8 } = options
  const driverOptions: PatchedOptions = {
    max,
    connect_timeout: 5,
    backoff: () => reconnectSeconds,
    idle_timeout: 60,
    max_lifetime: 30 * 60,
    onnotice: () => {},
    connection: {
      application_name: options.name,
      statement_timeout: 5_000,
      lock_timeout: options.lockTimeoutMs ?? 2_000,
      idle_in_transaction_session_timeout: 10_000,
      // Postgres keeps the plan of a prepared statement. One made while its table is small would read the grown table from
      // end to end until the next analyze.
      enable_seqscan: 'off',
    },
    onsync: () => roundTrips({}),
  }
  const sql = postgres(options.url, driverOptions)
  const db = drizzle(preparing(sql))
  const listeners = new Set<Listener>()
  const outage = openOutage({ name: 'postgres', log: options.log, ofIt: isAway })
  let overdue = 0
  let judging = false
  const judge = async () => {
    if (judging) return
    judging = true
    const isHung = await answersAnew(options.url)
    judging = false
    if (!isHung) {
      overdue = 0
      return
    }
    options.log.fatal({ overdue }, 'database stopped responding')
    options.onFatal()
  }
  const guarded = <T>(kind: CallKind, work: () => PromiseLike<T>): Promise<T> =>
    inSpan(`postgres ${kind}`, words, () => call(kind, work))
  /**
   * Repeats a single statement that a connection had prepared before a change of its tables. Postgres refused it, so it
   * did nothing; the driver has dropped it, and each connection may have prepared it.
   */
  const repeating = async <T>(work: () => PromiseLike<T>): Promise<T> => {
    for (let tries = 0; ; tries++) {
      try {
        return await work()
      } catch (error) {
        if (!isStale(error) || tries > max) throw error
      }
    }
  }
  const call = async <T>(kind: CallKind, work: () => PromiseLike<T>): Promise<T> => {
    const startedMs = performance.now()
    try {
      const value = await within(Promise.resolve(work()), deadlineMs, asked)
      overdue = 0
      outage.works()
      calls.since(startedMs, { kind, outcome: 'done' })
      return value
    } catch (thrown) {
      const error = withoutValues(thrown)
      if (isAway(error)) outage.failed(error)
      calls.since(startedMs, { kind, outcome: error instanceof DeadlinePassed ? 'overdue' : 'failed' })
      overdue = error instanceof DeadlinePassed ? overdue + 1 : 0
      if (overdue >= overdueMax) void judge()
      throw error
    }
  }
  return {
    read: (work) => guarded('read', () => repeating(() => work(db))),
    run: (work) => guarded('write', () => repeating(() => work(db))),
    transaction: async (work) => {
      let tell = () => {}
      const result = await guarded('transaction', () =>
        db.transaction(async (tx) => {
          tell = takeAnnouncements(tx, listeners)
          try {
            return await work(tx)
          } catch (error) {
            throw isAfterFailure(error) ? (aheadErrors.get(tx) ?? error) : error
          }
        }),
      )
      tell()
      return result
    },
    listen: (listener) => void listeners.add(listener),
    [Symbol.asyncDispose]: () => sql.end({ timeout: 2 }),
  }
}

async function answersAnew(url: string): Promise<boolean> {
  const fresh = postgres(url, { max: 1, connect_timeout: 3, onnotice: () => {} })
  try {
    await within(fresh`select 1`, 4_000, 'a new connection')
    return true
  } catch {
    return false
  } finally {
    void fresh.end({ timeout: 0 }).catch(() => {})
  }
}

/**
 * Makes the client prepare all statements. drizzle-orm 0.45.4 prepares only named ones (`postgres-js/session.js`), and
 * postgres.js 3.4.9 needs two round trips for any other. Distinct SQL texts must stay few: use `isOneOf` instead of
 * `in`.
 */
function preparing(client: Sql): Sql {
  const { begin } = client
  client.begin = ((work: (tx: TransactionSql) => unknown) => begin((tx) => work(prepareAll(tx)))) as Sql['begin']
  return prepareAll(client)
}

function prepareAll<Client extends Pick<Sql, 'unsafe'>>(client: Client): Client {
  const { unsafe } = client
  client.unsafe = ((text, values, options) =>
    unsafe(text, values, { ...options, prepare: true, simple: false } as object)) as Sql['unsafe']
  return client
}

/**
 * Sends a statement together with the transaction's next one, or with its commit, which saves a round trip. If it fails,
 * so does the transaction. `take` gets its rows before the transaction ends.
 */
export function sendAhead(
  tx: Tx,
  statement: SQLWrapper,
  take: (rows: readonly Record<string, unknown>[]) => void = () => {},
): void {
  // drizzle-orm hides both from its types.
  const { dialect, session } = tx as unknown as { dialect: PgDialect; session: { client: TransactionSql } }
  const { sql: text, params } = dialect.sqlToQuery(statement.getSQL())
  // `ahead` is an option of infra/patches/postgres@3.4.9.patch.
  const options = { prepare: true, simple: false, ahead: true } as object
  // An error fails the transaction by itself.
  session.client.unsafe(text, params as never[], options).then(take, (error) => {
    if (!aheadErrors.has(tx)) aheadErrors.set(tx, error)
  })
}

/** First error of what a transaction sent ahead. If a later statement shares no round trip with it, Postgres does not repeat it. */
const aheadErrors = new WeakMap<Tx, unknown>()

const isAfterFailure = (error: unknown): boolean =>
  error instanceof DrizzleQueryError && (error.cause as { code?: unknown } | undefined)?.code === '25P02'

/** Error of a statement that Postgres refused: `code` is the SQLSTATE, `constraint` the violated constraint. */
export class DatabaseRefused extends Error {
  override name = 'DatabaseRefused'
  constructor(
    message: string,
    readonly code?: string,
    readonly constraint?: string,
  ) {
    super(message)
  }
}

/** Codes of a missing connection (postgres.js) and of a starting or stopping server (Postgres). */
const awayCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EPIPE',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  '57P01',
  '57P02',
  '57P03',
])

const isAway = (error: unknown): boolean =>
  error instanceof DeadlinePassed
    ? error.message.startsWith(asked)
    : awayCodes.has(String((error as { code?: unknown }).code))

/** Routines of Postgres that refuse a prepared statement: its result changed, or it does not exist (any more). */
const staleRoutines: ReadonlySet<string> = new Set(['RevalidateCachedQuery', 'FetchPreparedStatement'])

const isStale = (error: unknown): boolean =>
  error instanceof DrizzleQueryError && staleRoutines.has(String((error.cause as { routine?: unknown })?.routine))

/**
 * Returns an error without the values of a statement, which may be personal: drizzle puts them into its message, and the driver
 * adds them to its errors.
 */
function withoutValues(error: unknown): unknown {
  const cause = error instanceof DrizzleQueryError ? error.cause : error
  if (cause === error && !(error instanceof postgres.PostgresError)) return error
  const { message = 'a statement failed', code, constraint_name } = (cause ?? {}) as Partial<postgres.PostgresError>
  return new DatabaseRefused(message, code, constraint_name)
}
