/** The answer did not come in time. The outcome is unknown: it may have happened. */
export class Overdue extends Error {
  override name = 'Overdue'
  constructor(what: string, deadlineMs: number) {
    super(`${what} did not answer within ${deadlineMs} ms`)
  }
}

/** Waits for `work` at most `deadlineMs`; then throws `Overdue` while the work goes on unobserved. */
export async function within<T>(work: Promise<T>, deadlineMs: number, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const alarm = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Overdue(what, deadlineMs)), deadlineMs)
  })
  try {
    return await Promise.race([work, alarm])
  } finally {
    clearTimeout(timer)
    work.catch(() => {}) // A late rejection is the outcome we already called unknown.
  }
}

/** Resolves after `ms`, or at once when the signal fires. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
  })
