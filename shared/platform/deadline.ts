/** Error of work that took too long. Its outcome is unknown: it may have been done. */
export class DeadlinePassed extends Error {
  override name = 'DeadlinePassed'
  constructor(what: string, deadlineMs: number) {
    super(`${what} did not answer within ${Math.round(deadlineMs)} ms`)
  }
}

/** Waits for work. Throws `DeadlinePassed` at the deadline; the work continues. */
export const within = <T>(work: Promise<T>, deadlineMs: number, what: string): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DeadlinePassed(what, deadlineMs)), deadlineMs)
    work.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })

/** Longest delay in ms; setTimeout overflows at a longer one and then fires at once. */
const longestMs = 2 ** 31 - 1

/** Waits. It ends at once when the signal fires, and at the latest after 24 days. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.min(ms, longestMs))
    signal?.addEventListener('abort', done)
  })
