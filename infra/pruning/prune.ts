import type { Sql } from 'postgres'
import { pause } from '#shared/deadline'
import { batchText, nameOf, type Rule } from './rule'
import { rules } from './rules'

/** What one round did: rows removed and rows spared by the name of each rule, and what went wrong. */
export type Pruned = {
  readonly removed: Readonly<Record<string, number>>
  readonly spared: Readonly<Record<string, number>>
  readonly failed: Readonly<Record<string, unknown>>
}

export type Pace = {
  /** Rows looked at in one transaction. */
  readonly rowsMax?: number
  /** Ends a round between two of them. */
  readonly signal?: AbortSignal
}

const rowsUsually = 1_000
/** Any number will do, as long as every copy takes the same. */
const pruningLock = 7_262_116

/**
 * Walks every table from its oldest row and removes what its rule lets go, a batch in each
 * transaction: a kill at any moment leaves whole batches. Ends where another copy is found at it;
 * undefined if that was so from the start. A table that cannot be pruned keeps no other from it; throws
 * where it is Postgres that is away.
 */
export async function prune(sql: Sql, pace: Pace = {}): Promise<Pruned | undefined> {
  const pruned = { removed: {}, spared: {}, failed: {} } as {
    [part in keyof Pruned]: Record<string, unknown>
  }
  for (const [at, rule] of rules.entries()) {
    const name = nameOf(rule)
    const { removed, spared, fault, isTaken } = await pruneTable(sql, rule, pace)
    if (removed > 0) pruned.removed[name] = removed
    if (spared > 0) pruned.spared[name] = spared
    if (fault !== undefined) {
      pruned.failed[name] = fault
      await sql`select 1` // Throws where it was not the table.
    }
    if (isTaken) return at === 0 && removed + spared === 0 ? undefined : (pruned as Pruned)
  }
  return pruned as Pruned
}

type Batch = { seen: number; removed: number; last: string[] | null }

type Outcome = { removed: number; spared: number; fault?: unknown; isTaken?: boolean }

async function pruneTable(
  sql: Sql,
  rule: Rule,
  { rowsMax = rowsUsually, signal }: Pace,
): Promise<Outcome> {
  const sum = { removed: 0, spared: 0 }
  let last: string[] | null = null
  try {
    while (!signal?.aborted) {
      const startedAt = performance.now()
      const batch: Batch | undefined = await pruneBatch(sql, rule, rowsMax, last)
      if (!batch) return { ...sum, isTaken: true }
      sum.removed += batch.removed
      sum.spared += batch.seen - batch.removed
      if (batch.seen < rowsMax) break
      last = batch.last
      // Half of the time is left to those who wait for the same disk.
      await pause(performance.now() - startedAt, signal)
    }
  } catch (fault) {
    return { ...sum, fault }
  }
  return sum
}

/**
 * One batch, behind the row `last`; undefined while another copy is at one. Lock and settings go with
 * the transaction: nothing is kept in a session, which may be lost between two (and postgres.js 3.4.9
 * goes on handing out a reserved one that was).
 */
async function pruneBatch(
  sql: Sql,
  rule: Rule,
  rowsMax: number,
  last: string[] | null,
): Promise<Batch | undefined> {
  return sql.begin(async (tx) => {
    const [lock] = await tx`select pg_try_advisory_xact_lock(${pruningLock}) as taken`
    if (!lock!.taken) return undefined
    // The planner takes a batch for most of a small table, and reads all of it; it grows meanwhile.
    await tx`set local enable_seqscan = off`
    const [batch] = await tx.unsafe<Batch[]>(batchText(rule, rowsMax, last !== null), last ?? [])
    return batch
  })
}
