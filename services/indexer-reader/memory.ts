import { fullGC } from 'bun:jsc'

const rssBoundBytes = 100 * 2 ** 20
const workBetween = 3_000

/**
 * Keeps the process small: JavaScriptCore collects late, and it grew to 230 MB over a backfill of
 * 200,000 events, or over 7,000 questions, where it needs 130 (measured). Pages stay with the
 * process: `Bun.gc`, which gives them back, takes twice as long, and they are needed again at once.
 * `work`: how many since the last call.
 */
export function openMemoryBound(): (work: number) => void {
  let since = 0
  return (work) => {
    since += work
    if (since < workBetween || process.memoryUsage.rss() < rssBoundBytes) return
    since = 0
    fullGC()
  }
}
