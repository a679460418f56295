import postgres, { type Sql } from 'postgres'
import { channelFault, readBanks } from '#infra/operations/timeline/channels'
import { findItems } from '#infra/operations/timeline/items'
import {
  columnNames,
  criteriaOf,
  faultInSearch,
  listedMax,
  rowOf,
  type Search,
  searchFrom,
} from '#infra/operations/timeline/search'
import { readTrace } from '#infra/operations/timeline/trace'
import { asker } from '#platform/bus/ask'
import type { Bus } from '#platform/bus/open'
import type { Clock } from '#platform/clock'
import { joinReads } from '#platform/reads'
import { withWaits } from '../timeline/waits'
import { readAttention } from './exceptions'

export type Items = AsyncDisposable & {
  readonly read: (id: string) => Promise<unknown>
  readonly find: (search: Search) => Promise<unknown>
  readonly attention: () => Promise<unknown>
  readonly sql: Sql
}

/** Interval of reading items. All pages that show an item share each read. */
const collectMs = 1_000
/** Interval of reading lists, which are longer and change slowly. */
const collectListsMs = 5_000
const connectionsMax = 3
const idleSeconds = 20
const statementTimeoutMs = 5_000

export type ItemsOptions = {
  /** URL of Postgres in a read-only role. */
  databaseUrl: string
  bus: () => Promise<Bus>
  clock: Clock
}

/** Opens the reader of items, which connects on first use. */
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
  const find = async (typed: Search) => {
    const [asOf, search] = [new Date(clock()), searchFrom(typed)]
    const wrong = faultInSearch(search, (field) => field, asOf)
    if (wrong !== undefined) return { asOf, wrong }
    const [sources, criteria] = [{ sql, ask: async () => asker(await bus()) }, criteriaOf(search, asOf)]
    const { items, lacks } = await findItems(sources, criteria, listedMax)
    const unknown =
      items.length === 0 && lacks.length === 0 ? await channelFault(sql, criteria, () => readBanks(sources)) : undefined
    if (unknown !== undefined) return { asOf, wrong: unknown }
    return { asOf, columns: columnNames, items: items.map(rowOf), lacks }
  }
  const lists = async (_: 'all') => ({ asOf: new Date(clock()), ...(await readAttention(sql)) })
  const attention = joinReads(lists, (all) => all, collectListsMs)
  return {
    read: joinReads(read, (id) => id, collectMs),
    find: joinReads(find, (search) => JSON.stringify(search), collectMs),
    attention: () => attention('all'),
    sql,
    [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }),
  }
}
