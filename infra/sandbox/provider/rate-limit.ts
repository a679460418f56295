import type { Account } from '../account'

// Limit of this sandbox. The real limits are 60 (test) and 600 (live) per minute; load tests need far more.
const callsPerMinuteMax = 60_000
const windowMs = 60_000

type Budget = { readonly exceeded: boolean; readonly headers: Record<string, string> }

/** Counts calls per endpoint and account in windows of a minute, as the provider does. */
export function openRateLimit(clock: () => number): (account: Account, endpoint: string) => Budget {
  const windows = new Map<string, { startedMs: number; calls: number }>()
  return (account, endpoint) => {
    const key = `${account} ${endpoint}`
    const nowMs = clock()
    const known = windows.get(key)
    const fresh = !known || nowMs - known.startedMs >= windowMs
    const current = fresh ? { startedMs: nowMs, calls: 1 } : { ...known, calls: known.calls + 1 }
    windows.set(key, current)
    return {
      exceeded: current.calls > callsPerMinuteMax,
      headers: {
        'Rate-Limit-Limit': String(callsPerMinuteMax),
        'Rate-Limit-Remaining': String(Math.max(0, callsPerMinuteMax - current.calls)),
        'Rate-Limit-Reset': ((current.startedMs + windowMs - nowMs) / 1000).toFixed(3),
      },
    }
  }
}
