import type { Bus } from '#shared/bus/open'
import { askEverybody } from '#shared/bus/scatter-gather'
import { serviceNames } from '#shared/messages/topic'

/** Response of a service instance to `$SRV.STATS` (NATS ADR-32). */
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

/** Services that report figures over `$SRV.STATS`; the gateway's own are read directly. */
const others = serviceNames.filter((name) => name !== 'gateway')

/** Asks every instance of every service; those that do not respond in time are left out. */
export const gatherStats = (bus: Bus): Promise<ServiceStats[]> =>
  askEverybody(bus, '$SRV.STATS', others, (reply) => {
    const answer = reply.json<ServiceStats>()
    return { from: answer.name, answer }
  })
