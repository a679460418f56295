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

/** Asks every few milliseconds until the answer is good; throws after the deadline, or when asking is `Hopeless`. */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = 60_000,
  everyMs = 40,
): Promise<T> {
  const givesUpAt = Date.now() + deadlineMs
  let last: unknown
  while (Date.now() < givesUpAt) {
    try {
      const seen = await ask()
      if (seen) return seen
    } catch (error) {
      if (error instanceof Hopeless) throw error
      last = error
    }
    await pause(everyMs)
  }
  const why = last instanceof Error ? `: ${last.message}` : ''
  throw new Error(`${what} did not happen within ${deadlineMs} ms${why}`)
}
