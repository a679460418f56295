import { RequestStrategy } from 'nats'
import type { Bus } from '#shared/bus/open'
import { within } from '#shared/deadline'
import { serviceNames } from '#shared/messages/topic'

/** What a copy of a service says of itself over `$SRV.STATS` (NATS ADR-32). */
export type ServiceStats = {
  readonly name: string
  readonly id: string
  readonly endpoints?: readonly {
    name: string
    num_requests: number
    num_errors: number
    /** Nanoseconds. */
    processing_time: number
    data?: unknown
  }[]
}

/** The console's page is not kept waiting for longer. */
const gatherMs = 2_000
/** Copies of a service answer together: once every service was heard, so much silence is the end. */
const quietMs = 100

/** The gateway answers by HTTP; the others over `$SRV.STATS`. */
const others = serviceNames.filter((name) => name !== 'gateway')

/** Asks every copy of every service; whoever does not answer in time is missing from the list. */
export async function gatherStats({ nc }: Bus): Promise<ServiceStats[]> {
  const asked = { strategy: RequestStrategy.Timer, maxWait: gatherMs }
  const replies = (await nc.requestMany('$SRV.STATS', undefined, asked))[Symbol.asyncIterator]()
  const silent = new Set<string>(others)
  const stats: ServiceStats[] = []
  for (;;) {
    const patienceMs = silent.size === 0 ? quietMs : gatherMs
    const reply = await within(replies.next(), patienceMs, 'the next').catch(() => undefined)
    if (!reply || reply.done) return stats
    const one = reply.value.json<ServiceStats>()
    stats.push(one)
    silent.delete(one.name)
  }
}
