import { askEverybody } from '#shared/bus/everybody'
import type { Bus } from '#shared/bus/open'
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

/** The gateway answers by HTTP; the others over `$SRV.STATS`. */
const others = serviceNames.filter((name) => name !== 'gateway')

/** Asks every copy of every service; whoever does not answer in time is missing from the list. */
export const gatherStats = (bus: Bus): Promise<ServiceStats[]> =>
  askEverybody(bus, '$SRV.STATS', others, (reply) => {
    const answer = reply.json<ServiceStats>()
    return { from: answer.name, answer }
  })
