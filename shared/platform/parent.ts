/** Calls `end` once the parent has gone, which holds a pipe to our standard input. */
export function endWithParent(end: () => void): void {
  process.stdin.on('end', end)
  process.stdin.on('close', end)
  process.stdin.resume()
}
