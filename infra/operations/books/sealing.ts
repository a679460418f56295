import type { Sql } from 'postgres'
import { steadyClock } from '#platform/clock'
import type { Log } from '#platform/log'
import { findSeal, type Head, readUnsealed, sealedJournals, sealJournals, verifySeals } from './seal'

/** Interval of complete verifications in ms. */
const verifyEveryMs = 86_400_000

/**
 * Returns the work of sealing the journals, which computes all seals again once a day. The log, which is kept elsewhere, has
 * the hash of each seal: whoever can change the tables can also make new seals, but not change the log. The process remembers
 * the last seals, so it notices at once if they are removed or made again.
 */
export function openSealing(sql: Sql, log: Log): () => Promise<void> {
  let verifiedAtMs: number | undefined
  const heads = new Map<string, Head>()
  return async () => {
    for (const head of heads.values()) {
      const { journal, number, lines: sealed } = head
      if ((await findSeal(sql, head)) === undefined)
        log.alarm({ journal, number, sealed, found: 0 }, 'sealed postings differ')
    }
    for (const head of await sealJournals(sql)) {
      const { journal, number, lines, hash } = head
      log.info({ journal, seal: number, lines, hash }, 'journal sealed')
      heads.set(journal, head)
    }
    for (const journal of sealedJournals) {
      const { lines, since, isOverdue } = await readUnsealed(sql, journal)
      if (isOverdue) log.alarm({ journal, lines, since }, 'postings are not sealed')
    }
    const nowMs = steadyClock()
    if (verifiedAtMs !== undefined && nowMs - verifiedAtMs < verifyEveryMs) return
    for (const { journal, differs } of await verifySeals(sql))
      if (differs) log.alarm({ journal, ...differs }, 'sealed postings differ')
    verifiedAtMs = nowMs
  }
}
