/**
 * Runs work of the same key one after the other, in call order, and everything else concurrently.
 */
export type InTurn = <T>(key: string | undefined, work: () => Promise<T>) => Promise<T>

export function openTurns(): InTurn {
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
