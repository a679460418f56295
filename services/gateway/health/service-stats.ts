import { RequestStrategy } from 'nats'
import type { Bus } from '#shared/bus/open'
import { serviceNames } from '#shared/messages/topic'
import { figuresIn, sample } from './prometheus.ts'

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

const gatherMs = 800
const quietMs = 150

/** Asks every copy of every service; whoever does not answer in time is missing from the list. */
export async function gatherStats({ nc }: Bus): Promise<ServiceStats[]> {
  const replies = await nc.requestMany('$SRV.STATS', undefined, {
    strategy: RequestStrategy.JitterTimer,
    maxWait: gatherMs,
    jitter: quietMs,
  })
  const stats: ServiceStats[] = []
  for await (const reply of replies) stats.push(reply.json<ServiceStats>())
  return stats
}

/** Those that were asked with the rest and did not answer: the gateway answers no questions. */
const silentAmong = (stats: readonly ServiceStats[]) =>
  serviceNames.filter((name) => name !== 'gateway' && !stats.some((one) => one.name === name))

/** The figures of all services as Prometheus text; undefined when none of them could be asked. */
export function serviceLines(stats: readonly ServiceStats[] | undefined): string[] {
  const asked = ['# TYPE services_asked gauge', sample('services_asked', {}, stats ? 1 : 0)]
  if (!stats) return asked
  const endpoints = stats.flatMap(({ name: service, id: instance, endpoints: known }) =>
    (known ?? []).map((one) => ({ labels: { service, instance, endpoint: one.name }, one })),
  )
  const series = (name: string, of: (one: (typeof endpoints)[number]['one']) => number) => [
    `# TYPE ${name} counter`,
    ...endpoints.map(({ labels, one }) => sample(name, labels, of(one))),
  ]
  return [
    ...asked,
    '# TYPE service_up gauge',
    ...stats.map(({ name, id }) => sample('service_up', { service: name, instance: id }, 1)),
    ...silentAmong(stats).map((name) => sample('service_up', { service: name }, 0)),
    ...series('service_requests_total', (one) => one.num_requests),
    ...series('service_errors_total', (one) => one.num_errors),
    ...series('service_processing_seconds_total', (one) => one.processing_time / 1e9),
    '# TYPE service_figure gauge',
    ...stats.flatMap(figureLines),
  ]
}

/** Every endpoint carries the same figures of its service: one is enough. */
function figureLines({ name: service, id: instance, endpoints }: ServiceStats): string[] {
  const data = endpoints?.find((one) => one.data !== undefined)?.data
  return figuresIn(data).map(([figure, value]) =>
    sample('service_figure', { service, instance, figure }, value),
  )
}
