import { pause } from '#platform/deadline'

export class Hopeless extends Error {
  override name = 'Hopeless'
}

/** Waits for the work. Throws `Hopeless` when the signal aborts, without waiting for the work. */
export async function unlessStopped<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  const stopped = Promise.withResolvers<never>()
  const stop = () => stopped.reject(new Hopeless('stopped before it was done'))
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    return await Promise.race([work, stopped.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/**
 * First pause of a poll in ms. Most conditions hold at once, and polls are expensive: `/me` costs some 10 ms of
 * processor time.
 */
const soonestMs = 20
const latestMs = 400

export const pollPauseMs = (waitedMs: number): number => Math.min(latestMs, Math.max(soonestMs, waitedMs / 10))

/**
 * Usual deadline of a wait in ms. Only a wait that fails takes as long, so it suits a machine that is slow or has much
 * else to do.
 */
export const patienceMs = 180_000

/** Polls until `ask` returns a value. Ends at once if `ask` throws `Hopeless`. */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = patienceMs,
  everyMs?: number,
): Promise<T> {
  const beganAt = performance.now()
  const givesUpAt = beganAt + deadlineMs
  let last: unknown
  while (performance.now() < givesUpAt) {
    try {
      const seen = await ask()
      if (seen) return seen
    } catch (error) {
      if (error instanceof Hopeless) throw error
      last = error
    }
    await pause(everyMs ?? pollPauseMs(performance.now() - beganAt))
  }
  const why = last instanceof Error ? `: ${last.message}` : ''
  throw new Error(`timed out after ${deadlineMs} ms waiting for ${what}${why}`)
}
