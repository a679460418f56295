import type { Clock } from '#shared/clock'

/** A bounded memory whose entries end by themselves; full, it forgets the oldest. */
export type ExpiringMap<V> = {
  readonly get: (key: string) => V | undefined
  readonly set: (key: string, value: V, ttlMs: number) => void
}

/** Opens an empty memory of at most `entriesMax` entries. */
export function expiringMap<V>(entriesMax: number, clock: Clock): ExpiringMap<V> {
  const entries = new Map<string, { value: V; endsAt: number }>()
  return {
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      if (entry.endsAt > clock()) return entry.value
      entries.delete(key)
      return undefined
    },
    set(key, value, ttlMs) {
      entries.delete(key)
      entries.set(key, { value, endsAt: clock() + ttlMs })
      if (entries.size > entriesMax) entries.delete(entries.keys().next().value!)
    },
  }
}
