import { pause } from '#shared/deadline'

/** Whatever is waited for cannot come any more. */
export class Hopeless extends Error {
  override name = 'Hopeless'
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
