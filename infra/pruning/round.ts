import type { Sql } from 'postgres'
import type { Log } from '#shared/log'
import { prune } from './prune'

/** After so many rounds in a row in which a table could not be pruned somebody is called. */
const failuresMax = 3

/** Prunes once each time it is called, and says what went, what was spared and what could not be pruned. */
export function openRounds(sql: Sql, log: Log): (signal?: AbortSignal) => Promise<void> {
  const failures = new Map<string, number>()
  return async (signal) => {
    const startedAt = performance.now()
    const pruned = await prune(sql, signal ? { signal } : {})
    if (!pruned) return log.info('another copy is pruning')
    const { removed, spared, failed } = pruned
    for (const rule of failures.keys()) if (!(rule in failed)) failures.delete(rule)
    for (const [rule, err] of Object.entries(failed)) {
      const failedRounds = (failures.get(rule) ?? 0) + 1
      failures.set(rule, failedRounds)
      const alarm = failedRounds >= failuresMax
      log.error({ rule, err, failedRounds, alarm }, 'old rows could not be removed')
    }
    const tookMs = Math.round(performance.now() - startedAt)
    log.info({ removed, spared, tookMs }, 'old rows removed')
  }
}
