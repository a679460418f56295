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
 * transaction: a kill at any moment leaves whole batches. Undefined when another copy is at it. A
 * table that cannot be pruned keeps no other from it.
 */
export async function prune(sql: Sql, pace: Pace = {}): Promise<Pruned | undefined> {
  const session = await sql.reserve()
  try {
    const [lock] = await session`select pg_try_advisory_lock(${pruningLock}) as taken`
    if (!lock!.taken) return undefined
    // The planner takes a batch for most of a small table, and reads all of it; it grows meanwhile.
    await session`set enable_seqscan = off`
    const pruned = { removed: {}, spared: {}, failed: {} } as {
      [part in keyof Pruned]: Record<string, unknown>
    }
    for (const rule of rules) {
      const name = nameOf(rule)
      const { removed, spared, fault } = await pruneTable(session, rule, pace)
      if (removed > 0) pruned.removed[name] = removed
      if (spared > 0) pruned.spared[name] = spared
      if (fault !== undefined) pruned.failed[name] = fault
    }
    return pruned as Pruned
  } finally {
    await session`reset enable_seqscan`.catch(() => {})
    await session`select pg_advisory_unlock(${pruningLock})`.catch(() => {})
    session.release()
  }
}

type Session = Pick<Sql, 'unsafe'>
type Batch = { seen: number; removed: number; last: string[] | null }

type Outcome = { removed: number; spared: number; fault?: unknown }

async function pruneTable(
  session: Session,
  rule: Rule,
  { rowsMax = rowsUsually, signal }: Pace,
): Promise<Outcome> {
  const sum = { removed: 0, spared: 0 }
  let last: string[] | null = null
  try {
    while (!signal?.aborted) {
      const startedAt = performance.now()
      const [batch]: Batch[] = await session.unsafe<Batch[]>(
        batchText(rule, rowsMax, last !== null),
        last ?? [],
      )
      sum.removed += batch!.removed
      sum.spared += batch!.seen - batch!.removed
      if (batch!.seen < rowsMax) break
      last = batch!.last
      // Half of the time is left to those who wait for the same disk.
      await pause(performance.now() - startedAt, signal)
    }
  } catch (fault) {
    return { ...sum, fault }
  }
  return sum
}
