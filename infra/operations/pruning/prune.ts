import type { Sql } from 'postgres'
import { pause } from '#platform/deadline'
import { batchText, nameOf, type RetentionRule } from './rule'
import { bankDetails, rules } from './rules'

export type Pruned = {
  readonly removed: Readonly<Record<string, number>>
  readonly spared: Readonly<Record<string, number>>
  readonly failed: Readonly<Record<string, unknown>>
}

export type PruneSettings = {
  readonly bankDetailsDays?: number
  readonly rowsMax?: number
  /** Signal that ends a round between two transactions. */
  readonly signal?: AbortSignal
}

const rowsUsually = 1_000
/**
 * Days that bank details are kept: six years from the end of the cash-out (Malaysia, AMLA 2001, section 17; Indonesia
 * wants five).
 */
export const bankDetailsDays = 2_192
/** Number of the advisory lock. It is arbitrary, and the same for every instance. */
const pruningLock = 7_262_116

/**
 * Applies all rules once. Returns undefined if another instance is pruning. A table that fails does not stop the
 * others. Throws if Postgres is down.
 */
export async function prune(sql: Sql, pace: PruneSettings = {}): Promise<Pruned | undefined> {
  const pruned = { removed: {}, spared: {}, failed: {} } as {
    [part in keyof Pruned]: Record<string, unknown>
  }
  const all = [...rules, bankDetails(pace.bankDetailsDays ?? bankDetailsDays)]
  for (const [at, rule] of all.entries()) {
    const name = nameOf(rule)
    const { removed, spared, fault, isTaken } = await pruneTable(sql, rule, pace)
    if (removed > 0) pruned.removed[name] = removed
    if (spared > 0) pruned.spared[name] = spared
    if (fault !== undefined) {
      pruned.failed[name] = fault
      await sql`select 1` // This query throws if Postgres is down.
    }
    if (isTaken) return at === 0 && removed + spared === 0 ? undefined : (pruned as Pruned)
  }
  return pruned as Pruned
}

type Batch = { seen: number; removed: number; last: string[] | null }

type PruneOutcome = { removed: number; spared: number; fault?: unknown; isTaken?: boolean }

async function pruneTable(
  sql: Sql,
  rule: RetentionRule,
  { rowsMax = rowsUsually, signal }: PruneSettings,
): Promise<PruneOutcome> {
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
      // The pause leaves half of the time to others on the same disk.
      await pause(performance.now() - startedAt, signal)
    }
  } catch (fault) {
    return { ...sum, fault }
  }
  return sum
}

/**
 * Prunes one batch. Returns undefined if another instance is pruning. Lock and settings end with the transaction,
 * because a session may be lost between two batches (postgres.js 3.4.9 keeps handing out a lost reserved session).
 */
async function pruneBatch(
  sql: Sql,
  rule: RetentionRule,
  rowsMax: number,
  last: string[] | null,
): Promise<Batch | undefined> {
  return sql.begin(async (tx) => {
    const [lock] = await tx`select pg_try_advisory_xact_lock(${pruningLock}) as taken`
    if (!lock!.taken) return undefined
    // On a small table the planner would scan, and the table may grow before the next plan.
    await tx`set local enable_seqscan = off`
    const [batch] = await tx.unsafe<Batch[]>(batchText(rule, rowsMax, last !== null), last ?? [])
    return batch
  })
}
