import { within } from '#platform/deadline'

/** Age in ms up to which figures are reused, because a scrape requests them once per endpoint, one after the other. */
const freshMs = 3_000
/** How long a caller that triggers a read waits before it gets the previous figures, in ms. */
const waitMs = 500

export type Shared<F> = F & { readonly readMsAgo: number }

/**
 * Shares one read among callers. A service that responds late is missing from `/metrics` as if it were down, so callers
 * get the previous figures while a read is slow, with their age in `readMsAgo`. A failed read is thrown to all callers
 * until the next.
 */
export function shareFigures<F extends object>(
  read: () => Promise<F>,
  clock: () => number = () => performance.now(),
): () => Promise<Shared<F>> {
  let last: { figures: F; readAt: number } | { fault: unknown; readAt: number } | undefined
  let reading: Promise<void> | undefined
  const readAnew = async () => {
    const found = await read().then(
      (figures) => ({ figures }),
      (fault: unknown) => ({ fault }),
    )
    last = { ...found, readAt: clock() }
    reading = undefined
  }
  return async () => {
    const isFresh = last && clock() - last.readAt <= freshMs
    if (!isFresh && !reading) {
      reading = readAnew()
      if (last) await within(reading, waitMs, 'the figures').catch(() => {})
    }
    if (!last) await reading
    const { readAt, ...found } = last!
    if ('fault' in found) throw found.fault
    return { ...found.figures, readMsAgo: Math.round(clock() - readAt) }
  }
}
