import type { Sql } from 'postgres'
import { steadyClock } from '#platform/clock'
import type { Log } from '#platform/log'
import { sealJournals, verifySeals } from './seal'

/** Interval of complete verifications in ms. */
const verifyEveryMs = 86_400_000

/**
 * Returns the work of sealing the journals, which computes all seals again once a day. The log, which is kept elsewhere, has
 * the hash of each seal: whoever can change the tables can also make new seals, but not change the log.
 */
export function openSealing(sql: Sql, log: Log): () => Promise<void> {
  let verifiedAtMs: number | undefined
  return async () => {
    for (const { journal, number, lines, hash } of await sealJournals(sql))
      log.info({ journal, seal: number, lines, hash }, 'journal sealed')
    const nowMs = steadyClock()
    if (verifiedAtMs !== undefined && nowMs - verifiedAtMs < verifyEveryMs) return
    for (const { journal, differs } of await verifySeals(sql))
      if (differs) log.alarm({ journal, ...differs }, 'sealed postings differ')
    verifiedAtMs = nowMs
  }
}
