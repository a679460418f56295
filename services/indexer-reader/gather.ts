/**
 * Turns many single look-ups into few shared ones. Those that come while a round runs wait for the
 * next, so nobody is answered with what was read before the question was asked.
 */
export function gathered<K, V>(load: (keys: ReadonlySet<K>) => Promise<V>): (key: K) => Promise<V> {
  let running: Promise<unknown> = Promise.resolve()
  let next: { keys: Set<K>; round: Promise<V> } | null = null
  const open = () => {
    const keys = new Set<K>()
    const begin = () => {
      next = null
      return load(keys)
    }
    const round = running.then(begin, begin)
    running = round
    return { keys, round }
  }
  return (key) => {
    next ??= open()
    next.keys.add(key)
    return next.round
  }
}
