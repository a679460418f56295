export type Timers = {
  /** Runs at `whenMs` (Unix ms), or at once if that time has passed. */
  at(whenMs: number, run: () => void): void
  close(): void
}

// Longest wait in ms. A longer delay overflows setTimeout, which then fires at once.
const longestWaitMs = 2 ** 31 - 1

export function openTimers(): Timers {
  const waiting = new Set<ReturnType<typeof setTimeout>>()
  const at = (whenMs: number, run: () => void): void => {
    const waitMs = Math.max(0, whenMs - Date.now())
    const timer = setTimeout(
      () => {
        waiting.delete(timer)
        if (waitMs > longestWaitMs) at(whenMs, run)
        else run()
      },
      Math.min(waitMs, longestWaitMs),
    )
    waiting.add(timer)
  }
  return {
    at,
    close() {
      for (const timer of waiting) clearTimeout(timer)
      waiting.clear()
    },
  }
}
