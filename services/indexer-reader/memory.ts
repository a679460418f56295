const rssBoundBytes = 100 * 2 ** 20
const workBetween = 3_000

/**
 * Keeps the process small: JavaScriptCore collects late, and it grew to 250 MB over a backfill of
 * 200,000 events, or over 7,000 questions, where it needs 100 (measured). `work`: how many since the
 * last call.
 */
export function openMemoryBound(): (work: number) => void {
  let since = 0
  return (work) => {
    since += work
    if (since < workBetween || process.memoryUsage.rss() < rssBoundBytes) return
    since = 0
    Bun.gc(true)
  }
}
