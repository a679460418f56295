import { pause } from '#shared/deadline'

/** Whatever is waited for cannot come any more. */
export class Hopeless extends Error {
  override name = 'Hopeless'
}

/** Waits for work no longer than until the signal: whoever is told to end does not wait for what began. */
export async function unlessStopped<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return work
  const stopped = Promise.withResolvers<never>()
  const stop = () => stopped.reject(new Hopeless('it was told to end'))
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    return await Promise.race([work, stopped.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Most is there at once, and what is not costs least when it is asked for seldom. */
const soonestMs = 20
const latestMs = 100

/**
 * Asks until the answer is good: every `everyMs`, or, if that is left out, again after a tenth of the time
 * waited so far. Throws after the deadline, or when asking is `Hopeless`.
 */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = 60_000,
  everyMs?: number,
): Promise<T> {
  const beganAt = Date.now()
  const givesUpAt = beganAt + deadlineMs
  let last: unknown
  while (Date.now() < givesUpAt) {
    try {
      const seen = await ask()
      if (seen) return seen
    } catch (error) {
      if (error instanceof Hopeless) throw error
      last = error
    }
    const waitedMs = Date.now() - beganAt
    await pause(everyMs ?? Math.min(latestMs, Math.max(soonestMs, waitedMs / 10)))
  }
  const why = last instanceof Error ? `: ${last.message}` : ''
  throw new Error(`${what} did not happen within ${deadlineMs} ms${why}`)
}
