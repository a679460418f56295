import postgres from 'postgres'
import type { Bus } from '#shared/bus/open'
import type { Clock } from '#shared/clock'
import { joined } from '#shared/reads/reads'
import { readTrace } from '#shared/trace/trace'
import { readAttention } from './attention'
import { withWaits } from './history'
import { readStanding, type Standing } from './standing'

/** Reads what is known of an item, by any id that it has anywhere. */
export type Items = AsyncDisposable & {
  readonly read: (id: string) => Promise<unknown>
  /** Everything that waits for a person. */
  readonly attention: () => Promise<unknown>
  /** What waits for a person and is in no service's figures. */
  readonly standing: () => Promise<Standing>
}

/** Several pages that show one item are one reader of it, and no more than once in so long. */
const gatherMs = 1_000
/** The lists are longer, and what waits for a person waits for minutes. */
const gatherListsMs = 5_000
const connectionsMax = 2
/** Nothing is kept open for a page that is not looked at. */
const idleSeconds = 20
const statementTimeoutMs = 5_000

export type ItemsOptions = {
  /** Postgres as a role that may only read. */
  databaseUrl: string
  bus: () => Promise<Bus>
  clock: Clock
}

/** Connects when the first id is asked for. */
export function openItems({ databaseUrl, bus, clock }: ItemsOptions): Items {
  const sql = postgres(databaseUrl, {
    max: connectionsMax,
    connect_timeout: 5,
    idle_timeout: idleSeconds,
    onnotice: () => {},
    connection: {
      application_name: 'console',
      statement_timeout: statementTimeoutMs,
      default_transaction_read_only: true,
    },
  })
  const read = async (id: string) => {
    const { items, entries, unseen } = await readTrace({ sql, bus }, id)
    const now = new Date(clock())
    return { id, asOf: now, items, lines: withWaits({ items, entries }, now), unseen }
  }
  const lists = async (_: 'all') => ({ asOf: new Date(clock()), ...(await readAttention(sql)) })
  const attention = joined(lists, (all) => all, gatherListsMs)
  return {
    read: joined(read, (id) => id, gatherMs),
    attention: () => attention('all'),
    standing: () => readStanding(sql),
    [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }),
  }
}
