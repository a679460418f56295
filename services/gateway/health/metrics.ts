import { serviceNames } from '#shared/messages/topic'
import type { ServiceStats } from './probes'

/** Counters of this process since its start. */
export type HttpMetrics = {
  readonly count: (seen: { method: string; route: string; status: number; tookMs: number }) => void
  /** Prometheus text of everything counted since the start. */
  readonly lines: () => string[]
}

const bucketsSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const methods = new Set(['GET', 'POST', 'OPTIONS', 'HEAD'])

type Series = { requests: number; seconds: number; buckets: number[] }

/** Counts requests by method, route template and status: never by wallet or address. */
export function openHttpMetrics(): HttpMetrics {
  const series = new Map<string, Series>()
  return {
    count({ method, route, status, tookMs }) {
      const known = methods.has(method) ? method : 'other'
      const key = JSON.stringify({ method: known, route, status })
      const one = series.get(key) ?? {
        requests: 0,
        seconds: 0,
        buckets: bucketsSeconds.map(() => 0),
      }
      one.requests += 1
      one.seconds += tookMs / 1000
      bucketsSeconds.forEach((limit, index) => {
        if (tookMs / 1000 <= limit) one.buckets[index]! += 1
      })
      series.set(key, one)
    },
    lines: () => [
      '# HELP http_request_duration_seconds Time to answer, by method, route and status.',
      '# TYPE http_request_duration_seconds histogram',
      ...[...series].flatMap(([key, one]) => linesOf(JSON.parse(key), one)),
    ],
  }
}

function linesOf(labels: Record<string, string | number>, one: Series): string[] {
  const name = 'http_request_duration_seconds'
  return [
    ...bucketsSeconds.map((le, index) =>
      sample(`${name}_bucket`, { ...labels, le }, one.buckets[index]!),
    ),
    sample(`${name}_bucket`, { ...labels, le: '+Inf' }, one.requests),
    sample(`${name}_sum`, labels, one.seconds),
    sample(`${name}_count`, labels, one.requests),
  ]
}

/** One line of Prometheus text format 0.0.4. */
export function sample(
  name: string,
  labels: Readonly<Record<string, string | number>>,
  value: number,
): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(String(text))}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`
}

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/**
 * The numbers in a service's own figures, by their path: `{ outbox: { waiting: 2 } }` ->
 * outbox_waiting.
 */
export function figuresIn(value: unknown, path: readonly string[] = []): [string, number][] {
  if (typeof value === 'number' && Number.isFinite(value))
    return [[path.join('_').replace(/[^a-zA-Z0-9_]/g, '_'), value]]
  if (typeof value !== 'object' || value === null || path.length > 4) return []
  return Object.entries(value).flatMap(([key, inner]) => figuresIn(inner, [...path, key]))
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
