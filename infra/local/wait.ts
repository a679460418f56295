import { pause } from '#shared/deadline'

/** Asks every few milliseconds until the answer is good; throws after the deadline. */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = 30_000,
  everyMs = 40,
): Promise<T> {
  const givesUpAt = Date.now() + deadlineMs
  let last: unknown
  while (Date.now() < givesUpAt) {
    try {
      const seen = await ask()
      if (seen) return seen
    } catch (error) {
      last = error
    }
    await pause(everyMs)
  }
  const why = last instanceof Error ? `: ${last.message}` : ''
  throw new Error(`${what} did not happen within ${deadlineMs} ms${why}`)
}
