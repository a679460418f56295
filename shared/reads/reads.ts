import { pause, within } from '#shared/deadline'

/**
 * Turns many single reads into few shared ones. Those that come while one runs wait for the next, so
 * that no answer is older than its question; but no longer than `patienceMs`: one that hangs holds
 * nobody up.
 */
export function batched<K, V>(
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
    const before = Number.isFinite(patienceMs)
      ? within(running, patienceMs, 'the reading before')
      : running
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
 * Reads once for all who ask the same at once, `keyOf` saying what is the same. Whoever asks while it is
 * read waits for the next reading, so that no answer is older than its question. The next one begins
 * `gatherMs` later, for a reading so dear that those who were just answered should share it too.
 */
export function joined<A, V>(
  read: (asked: A) => Promise<V>,
  keyOf: (asked: A) => string,
  gatherMs = 0,
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
      if (gatherMs > 0) await pause(gatherMs)
      next.delete(key)
      return begin(key, asked)
    }
    const later = before.then(beginNext, beginNext)
    next.set(key, later)
    return later
  }
}
