import { within } from '#platform/deadline'
import { type FeedEvent, feedLeaseMs, type Recent } from '#shared/messages/operations'
import type { Live } from './live'
import type { Overview } from './overview'

export type LiveFeed = Disposable & {
  /** Publishes for another `feedLeaseMs`. Returns the earlier events if `recent` is set. */
  readonly renew: (recent: boolean) => Promise<Recent>
}

const beginMs = 3_000

/** Opens the feed. While no gateway renews its lease, the feed subscribes to nothing and reads nothing. */
export function openFeed(options: {
  readonly live: Live
  readonly overview: Overview
  readonly publish: (event: FeedEvent) => void
  readonly leaseMs?: number
}): LiveFeed {
  const { live, overview, publish, leaseMs = feedLeaseMs } = options
  let ends: (() => void)[] = []
  let watched: ReturnType<Live['watch']> | undefined
  let lease: ReturnType<typeof setTimeout> | undefined
  const end = () => {
    clearTimeout(lease)
    for (const stop of ends) stop()
    ends = []
    watched = undefined
  }
  const begin = () => {
    const listening = live.watch((data) => publish({ event: 'motion', data }))
    ends = [listening.end, overview.watch((data) => publish({ event: 'overview', data }))]
    watched = listening
    return listening
  }
  return {
    renew: async (recent) => {
      const { listening, lately } = watched ?? begin()
      clearTimeout(lease)
      lease = setTimeout(end, leaseMs)
      const deaf = await within(listening, beginMs, 'NATS').then(
        () => null,
        () => 'The user console cannot subscribe at NATS.',
      )
      if (deaf) end() // The next renewal subscribes again.
      if (!recent) return { events: [], deaf }
      const data = overview.last()
      return {
        deaf,
        events: [
          ...lately().map((motion) => ({ event: 'motion' as const, data: motion })),
          ...(data ? [{ event: 'overview' as const, data }] : []),
        ],
      }
    },
    [Symbol.dispose]: end,
  }
}
