import { pause } from '#platform/deadline'

/** Starts work at fixed intervals, so that slow responses do not reduce the load (an open loop). */
export async function arrive<T>(count: number, everyMs: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const startedAt = performance.now()
  const running: Promise<T>[] = []
  for (let index = 0; index < count; index++) {
    await pause(Math.max(0, startedAt + index * everyMs - performance.now()))
    const piece = work(index)
    piece.catch(() => {}) // The `Promise.all` below reports the rejection.
    running.push(piece)
  }
  return Promise.all(running)
}
