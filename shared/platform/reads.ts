import { pause, within } from '#platform/deadline'

/**
 * Groups reads. Callers during a read wait for the next one, so that no result is older than its request, but no longer
 * than `patienceMs`.
 */
export function batchReads<K, V>(
  load: (keys: ReadonlySet<K>) => Promise<V>,
  patienceMs = Number.POSITIVE_INFINITY,
): (key: K) => Promise<V> {
  let running: Promise<unknown> = Promise.resolve()
  let next: { keys: Set<K>; read: Promise<V> } | null = null
  const open = () => {
    const keys = new Set<K>()
    const begin = () => {
      next = null
      return load(keys)
    }
    const before = Number.isFinite(patienceMs) ? within(running, patienceMs, 'the previous read') : running
    const read = before.then(begin, begin)
    running = read
    return { keys, read }
  }
  return (key) => {
    next ??= open()
    next.keys.add(key)
    return next.read
  }
}

/**
 * Groups reads by key. The next read of a key begins `collectMs` after the current one, so that more callers share it.
 */
export function joinReads<A, V>(
  read: (asked: A) => Promise<V>,
  keyOf: (asked: A) => string,
  collectMs = 0,
): (asked: A) => Promise<V> {
  const running = new Map<string, Promise<V>>()
  const next = new Map<string, Promise<V>>()
  const begin = (key: string, asked: A) => {
    const reading = read(asked)
    running.set(key, reading)
    const end = () => {
      if (running.get(key) === reading) running.delete(key)
    }
    reading.then(end, end)
    return reading
  }
  return (asked) => {
    const key = keyOf(asked)
    const toCome = next.get(key)
    if (toCome) return toCome
    const before = running.get(key)
    if (!before) return begin(key, asked)
    const beginNext = async () => {
      if (collectMs > 0) await pause(collectMs)
      next.delete(key)
      return begin(key, asked)
    }
    const later = before.then(beginNext, beginNext)
    next.set(key, later)
    return later
  }
}
