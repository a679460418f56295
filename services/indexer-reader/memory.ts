const rssBoundBytes = 100 * 2 ** 20
const eventsBetween = 3_000

/**
 * Keeps a backfill small: JavaScriptCore collects parsed answers late, and the process grew to 250 MB
 * over 200,000 events where it needs 100 (measured). Tell it how many events went by.
 */
export function openMemoryBound(): (events: number) => void {
  let since = 0
  return (events) => {
    since += events
    if (since < eventsBetween || process.memoryUsage.rss() < rssBoundBytes) return
    since = 0
    Bun.gc(true)
  }
}
