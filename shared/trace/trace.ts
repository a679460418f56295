import type { Sql } from 'postgres'
import { readBooks } from '#shared/trace/books'
import { readCashouts } from '#shared/trace/cashouts'
import { readOperations } from '#shared/trace/chain'
import { type OpenBus, readDeliveries } from '#shared/trace/deliveries'
import type { Entry, Part, Roots, Trace } from '#shared/trace/entry'
import { findRoots } from '#shared/trace/find'
import { readLane } from '#shared/trace/lanes'
import { readMessages } from '#shared/trace/messages'
import { readPayments } from '#shared/trace/payments'
import { readWallet } from '#shared/trace/wallet'

/** Where a trace is read: the rows, the bus, and whatever else the reader can ask. */
export type Places = {
  readonly sql: Sql
  readonly bus: OpenBus
  readonly others?: readonly {
    readonly what: string
    readonly read: (roots: Roots) => Promise<Part>
  }[]
}

/**
 * Reads one item through every service: by any id that it has anywhere. It needs no service to be up;
 * what it could not see it names.
 */
export async function readTrace({ sql, bus, others = [] }: Places, id: string): Promise<Trace> {
  const roots = await findRoots(sql, bus, id.trim()).catch(wordsOf)
  if (typeof roots === 'string')
    return { id, items: [], entries: [], unseen: [{ what: 'the rows', why: roots }] }
  const parts = await Promise.all([
    look('payments', () => readPayments(sql, roots.payments)),
    look('payouts', () => readCashouts(sql, roots.cashouts)),
    look('chain-relayer', () => readOperations(sql, roots)),
    look('messages', () => readMessages(sql, roots)),
    look('the books', () => readBooks(sql, roots)),
    look('the wallet', () => readWallet(sql, roots.wallets)),
    look('the lane', () => readLane(sql, roots.wallets)),
    look('deliveries of webhooks', () => readDeliveries(sql, bus, roots)),
    ...others.map(({ what, read }) => look(what, () => read(roots))),
  ])
  return {
    id,
    items: parts.flatMap(({ items = [] }) => items),
    entries: sorted(parts.flatMap(({ entries = [] }) => entries)),
    unseen: parts.flatMap(({ what, unseen: why }) => (why === undefined ? [] : [{ what, why }])),
  }
}

/** What a reader found, or why it could not look. */
async function look(what: string, work: () => Promise<Part>): Promise<Part & { what: string }> {
  try {
    return { what, ...(await work()) }
  } catch (error) {
    return { what, unseen: wordsOf(error) }
  }
}

const sorted = (entries: readonly Entry[]): Entry[] =>
  entries.toSorted((left, right) => timeOf(left) - timeOf(right))

const timeOf = ({ at }: Entry) => at?.getTime() ?? Number.MAX_SAFE_INTEGER

/** An error in words, with the one that it wraps. */
function wordsOf(error: unknown): string {
  const { message, cause, code } = error as Error & { code?: string }
  const why = message || code || String(error)
  return cause instanceof Error ? `${why}: ${cause.message}` : why
}
