import { within } from '#shared/deadline'

/** So old figures may be: a scrape comes every 15 s, and asks for them once for each endpoint. */
const freshMs = 3_000
/** Whoever has them read anew waits so long for that, and then gets the last ones. */
const waitMs = 500

/** Figures, and how long ago they were read. */
export type Shared<F> = F & { readonly readMsAgo: number }

/**
 * Figures that are read once for all who ask for them within some seconds: NATS asks for those of a
 * service once for each of its endpoints, one after the other, and a service that answers late is
 * missing from `/metrics` as if it were down. A reading that takes long shows in the age of the
 * figures before it, `readMsAgo`; one that fails is thrown to everybody until the next.
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
