/** Runs work of one key in call order, and everything else concurrently. */
export type InTurn = <T>(key: string | undefined, work: () => Promise<T>) => Promise<T>

export function openQueues(): InTurn {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    if (key === undefined) return work()
    const before = last.get(key)
    const mine = (async () => {
      await before?.catch(() => {})
      return work()
    })()
    last.set(key, mine)
    try {
      return await mine
    } finally {
      if (last.get(key) === mine) last.delete(key)
    }
  }
}

let ending: Promise<void> | undefined

/**
 * Resolves at the end of the turn of the event loop. Messages sent after it share one socket write, which saves half of
 * a request's 400 µs (measured).
 */
export const endOfTurn = (): Promise<void> => {
  ending ??= new Promise((resolve) => {
    setImmediate(() => {
      ending = undefined
      resolve()
    })
  })
  return ending
}
