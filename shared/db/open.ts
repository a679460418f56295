import { DrizzleQueryError } from 'drizzle-orm/errors'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres, { type Sql, type TransactionSql } from 'postgres'
import { type Listener, takeNotes } from '#shared/db/after-commit'
import { Overdue, within } from '#shared/deadline'
import type { Log } from '#shared/log'
import { quickSeconds, timer } from '#shared/metrics/measures'
import { openOutage } from '#shared/outages/outage'
import { inSpan } from '#shared/tracing/spans'

/** Statements run inside one transaction; handed to everything that must commit together. */
export type Tx = Parameters<Parameters<PostgresJsDatabase['transaction']>[0]>[0]
/** A database or a transaction, for statements that may run in either. */
export type Db = PostgresJsDatabase | Tx

export type Database = AsyncDisposable & {
  /** Reads and single statements, each under the deadline. */
  readonly read: <T>(work: (db: PostgresJsDatabase) => PromiseLike<T>) => Promise<T>
  /** A single statement that writes, under the deadline. */
  readonly run: <T>(work: (db: PostgresJsDatabase) => PromiseLike<T>) => Promise<T>
  /** One transaction under the deadline. `Overdue` means unknown: it may have committed. */
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>
  /** Hears from now on what transactions of this process note for their commit. */
  readonly listen: (listener: Listener) => void
}

/** What a call under its deadline is named after. */
const asked = 'the database'

/** Within the pool's own limits, so that the server gives up before we do. */
const callDeadlineMs = 8_000
/**
 * After so many calls in a row without an answer somebody new asks. A refusal is an answer, and so is a
 * connection that cannot be made.
 */
const overdueMax = 5
/**
 * Rest before a lost connection is made anew. The driver's own grows to 20 s, longer than a call may
 * take: after an outage calls would go unanswered though Postgres is there.
 */
const reconnectSeconds = 0.5

const words = { kind: 'client', attributes: { 'db.system.name': 'postgresql' } } as const

const callKinds = ['read', 'write', 'transaction'] as const
type CallKind = (typeof callKinds)[number]

const calls = timer({
  what: 'database_call_duration',
  help: 'Time of a call of Postgres, the wait for a connection included; a transaction is one call.',
  labels: { kind: callKinds, outcome: ['done', 'failed', 'overdue'] },
  buckets: quickSeconds,
})

/**
 * Opens Postgres. postgres.js 3.4.9 has no client-side query timeout, and a black-holed connection
 * leaves queries pending for as long as the kernel likes (measured), hence a deadline on every call
 * and, after several in a row, `onFatal`: the process ends and its supervisor starts a new one. But
 * only if a new connection is answered: while Postgres is away, a new process could do no more.
 */
export function openDatabase(options: {
  url: string
  name: string
  log: Log
  onFatal: () => void
  max?: number
  /** For suites. */
  callDeadlineMs?: number
}): Database {
  const deadlineMs = options.callDeadlineMs ?? callDeadlineMs
  const sql = postgres(options.url, {
    max: options.max ?? 8,
    connect_timeout: 5,
    backoff: () => reconnectSeconds,
    idle_timeout: 60,
    max_lifetime: 30 * 60,
    onnotice: () => {},
    connection: {
      application_name: options.name,
      statement_timeout: 5_000,
      lock_timeout: 2_000,
      idle_in_transaction_session_timeout: 10_000,
    },
  })
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
    options.log.fatal({ overdue }, 'database stopped answering')
    options.onFatal()
  }
  const guarded = <T>(kind: CallKind, work: () => PromiseLike<T>): Promise<T> =>
    inSpan(`postgres ${kind}`, words, () => call(kind, work))
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
      calls.since(startedMs, { kind, outcome: error instanceof Overdue ? 'overdue' : 'failed' })
      overdue = error instanceof Overdue ? overdue + 1 : 0
      if (overdue >= overdueMax) void judge()
      throw error
    }
  }
  return {
    read: (work) => guarded('read', () => work(db)),
    run: (work) => guarded('write', () => work(db)),
    transaction: async (work) => {
      let tell = () => {}
      const result = await guarded('transaction', () =>
        db.transaction((tx) => {
          tell = takeNotes(tx, listeners)
          return work(tx)
        }),
      )
      tell()
      return result
    },
    listen: (listener) => void listeners.add(listener),
    [Symbol.asyncDispose]: () => sql.end({ timeout: 2 }),
  }
}

/** Whether Postgres answers a connection of its own within seconds. */
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
 * The client, so that every statement is prepared once on each connection: drizzle-orm 0.45.4 asks
 * for that only where a statement was given a name (`postgres-js/session.js`), and postgres.js 3.4.9
 * needs two round trips for one that is not. Texts must not multiply: `isOneOf` in place of `in`.
 */
function preparing(client: Sql): Sql {
  const { begin } = client
  client.begin = ((work: (tx: TransactionSql) => unknown) =>
    begin((tx) => work(prepareAll(tx)))) as Sql['begin']
  return prepareAll(client)
}

function prepareAll<Client extends Pick<Sql, 'unsafe'>>(client: Client): Client {
  const { unsafe } = client
  client.unsafe = ((text, values, options) =>
    unsafe(text, values, { ...options, prepare: true })) as Sql['unsafe']
  return client
}

/** Postgres refused a statement. `code` is its SQLSTATE, `constraint` the one that was broken. */
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

/** How postgres.js says that there is no connection; then, how Postgres says that it comes or goes. */
const awayCodes: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENOTFOUND', 'ETIMEDOUT', 'EPIPE'],
  ...['CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED', 'CONNECT_TIMEOUT'],
  ...['57P01', '57P02', '57P03'],
])

/** Whether Postgres could not be asked, or did not answer. */
const isAway = (error: unknown): boolean =>
  error instanceof Overdue
    ? error.message.startsWith(asked)
    : awayCodes.has(String((error as { code?: unknown }).code))

/** drizzle writes a failed statement's values into its message. They may be personal: removed. */
function withoutValues(error: unknown): unknown {
  if (!(error instanceof DrizzleQueryError)) return error
  const cause = error.cause as (Error & { code?: string; constraint_name?: string }) | undefined
  return new DatabaseRefused(
    cause?.message ?? 'a statement failed',
    cause?.code,
    cause?.constraint_name,
  )
}
