import { pause } from '#platform/deadline'
import type { Hand } from './hand'

const everyMs = 20
const deadlineMs = 30_000

/** Records when each height was first seen, by `performance.now()`. */
export function watchFinality(hand: Hand): Disposable & {
  readonly finalAt: (block: number) => Promise<number>
} {
  const stop = new AbortController()
  const sightings: { height: number; atMs: number }[] = []
  const watch = async () => {
    while (!stop.signal.aborted) {
      const height = await hand.finalized().catch(() => -1)
      if (height > (sightings.at(-1)?.height ?? -1)) sightings.push({ height, atMs: performance.now() })
      await pause(everyMs, stop.signal)
    }
  }
  void watch()
  return {
    finalAt: async (block) => {
      for (const givesUpAt = performance.now() + deadlineMs; performance.now() < givesUpAt; ) {
        const seen = sightings.find(({ height }) => height >= block)
        if (seen) return seen.atMs
        await pause(everyMs / 4)
      }
      throw new Error(`block ${block} was not final within ${deadlineMs} ms`)
    },
    [Symbol.dispose]: () => stop.abort(),
  }
}
