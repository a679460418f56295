import type { Sql } from 'postgres'
import { readBooks } from '#infra/operations/timeline/books'
import { readCashouts } from '#infra/operations/timeline/cashouts'
import { type OpenBus, readDeliveries } from '#infra/operations/timeline/deliveries'
import type { Roots, TimelineEntry, TimelinePart, Trace } from '#infra/operations/timeline/entry'
import { findRoots } from '#infra/operations/timeline/find'
import { readLane } from '#infra/operations/timeline/lanes'
import { readMessages } from '#infra/operations/timeline/messages'
import { readOperations } from '#infra/operations/timeline/operations'
import { readPayments } from '#infra/operations/timeline/payments'
import { readWallet } from '#infra/operations/timeline/wallet'

export type TraceSources = {
  readonly sql: Sql
  readonly bus: OpenBus
  readonly others?: readonly {
    readonly what: string
    readonly read: (roots: Roots) => Promise<TimelinePart>
  }[]
}

/** Reads a trace. No service needs to run. */
export async function readTrace({ sql, bus, others = [] }: TraceSources, id: string): Promise<Trace> {
  const roots = await findRoots(sql, bus, id.trim()).catch(wordsOf)
  if (typeof roots === 'string') return { id, items: [], entries: [], unseen: [{ what: 'the database', why: roots }] }
  const parts = await Promise.all([
    look('payments', () => readPayments(sql, roots.payments)),
    look('payouts', () => readCashouts(sql, roots.cashouts)),
    look('chain-relayer', () => readOperations(sql, roots)),
    look('messages', () => readMessages(sql, roots)),
    look('the books', () => readBooks(sql, roots)),
    look('the wallet', () => readWallet(sql, roots.wallets)),
    look('the lane', () => readLane(sql, roots.wallets)),
    look('webhook deliveries', () => readDeliveries(sql, bus, roots)),
    ...others.map(({ what, read }) => look(what, () => read(roots))),
  ])
  return {
    id,
    items: parts.flatMap(({ items = [] }) => items),
    entries: sorted(parts.flatMap(({ entries = [] }) => entries)),
    unseen: parts.flatMap(({ what, unseen: why }) => (why === undefined ? [] : [{ what, why }])),
  }
}

async function look(what: string, work: () => Promise<TimelinePart>): Promise<TimelinePart & { what: string }> {
  try {
    return { what, ...(await work()) }
  } catch (error) {
    return { what, unseen: wordsOf(error) }
  }
}

const sorted = (entries: readonly TimelineEntry[]): TimelineEntry[] =>
  entries.toSorted((left, right) => timeOf(left) - timeOf(right))

const timeOf = ({ at }: TimelineEntry) => at?.getTime() ?? Number.MAX_SAFE_INTEGER

function wordsOf(error: unknown): string {
  const { message, cause, code } = error as Error & { code?: string }
  const why = message || code || String(error)
  return cause instanceof Error ? `${why}: ${cause.message}` : why
}
