import postgres, { type Sql } from 'postgres'
import type { Log } from '#platform/log'
import { type PruneSettings, prune } from './prune'

/** Number of consecutive failed rounds of a rule that alerts. */
const failuresMax = 3

export function openRounds(sql: Sql, log: Log, pace: PruneSettings = {}): (signal?: AbortSignal) => Promise<void> {
  const failures = new Map<string, number>()
  return async (signal) => {
    const startedAt = performance.now()
    const pruned = await prune(sql, { ...pace, ...(signal && { signal }) })
    if (!pruned) return log.info('another instance is pruning')
    const { removed, spared, failed } = pruned
    for (const rule of failures.keys()) if (!(rule in failed)) failures.delete(rule)
    for (const [rule, err] of Object.entries(failed)) {
      const failedRounds = (failures.get(rule) ?? 0) + 1
      failures.set(rule, failedRounds)
      const level = failedRounds >= failuresMax ? 'alarm' : 'error'
      log[level]({ rule, err, failedRounds }, 'pruning failed')
    }
    const tookMs = Math.round(performance.now() - startedAt)
    log.info({ removed, spared, tookMs }, 'rows pruned')
  }
}

/** Opens the pruner. `databaseUrl` connects in the role `pruning`. */
export function openPruner(
  databaseUrl: string,
  log: Log,
  pace: PruneSettings,
): AsyncDisposable & { readonly prune: (signal?: AbortSignal) => Promise<void> } {
  const sql = postgres(databaseUrl, {
    max: 2,
    connect_timeout: 5,
    onnotice: () => {},
    // Services must not wait for pruning. A batch takes far less time than these limits.
    connection: { application_name: 'pruning', statement_timeout: 30_000, lock_timeout: 1_000 },
  })
  return {
    prune: openRounds(sql, log, pace),
    [Symbol.asyncDispose]: () => sql.end({ timeout: 2 }),
  }
}
