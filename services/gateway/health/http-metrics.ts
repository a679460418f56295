import { sample } from './prometheus.ts'

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
