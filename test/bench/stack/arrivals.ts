import { pause } from '#shared/deadline'

/**
 * Starts `count` pieces of work at a fixed pace, whatever they take: a slow answer does not thin out
 * the load. Resolves with every result; rejects with the first failure.
 */
export async function arrive<T>(
  count: number,
  everyMs: number,
  work: (index: number) => Promise<T>,
): Promise<T[]> {
  const startedAt = performance.now()
  const running: Promise<T>[] = []
  for (let index = 0; index < count; index++) {
    await pause(Math.max(0, startedAt + index * everyMs - performance.now()))
    const piece = work(index)
    piece.catch(() => {}) // Whoever awaits all of them sees it.
    running.push(piece)
  }
  return Promise.all(running)
}
