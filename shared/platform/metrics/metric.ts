import { Counter, Gauge, Registry } from 'prom-client'
import { namespace } from '#platform/metrics/measures'

/** A figure for a scrape; unknown ones (null) are omitted. */
export type Metric = {
  readonly name: string
  readonly kind: 'gauge' | 'counter'
  readonly help: string
  readonly value: number | null | undefined
  readonly labels: Readonly<Record<string, string>>
}

export const gauge = (what: string, help: string, value: Metric['value'], labels: Metric['labels'] = {}): Metric => ({
  name: `${namespace}_${what}`,
  kind: 'gauge',
  help,
  value,
  labels,
})

export const seconds = (what: string, help: string, ms: Metric['value'], labels: Metric['labels'] = {}): Metric =>
  gauge(`${what}_seconds`, help, typeof ms === 'number' ? ms / 1_000 : ms, labels)

export const total = (what: string, help: string, value: Metric['value'], labels: Metric['labels'] = {}): Metric => ({
  name: `${namespace}_${what}_total`,
  kind: 'counter',
  help,
  value,
  labels,
})

export const each = <V>(
  record: Readonly<Record<string, V>>,
  label: string,
  read: (value: V, labels: Metric['labels']) => Metric,
): Metric[] => Object.entries(record).map(([key, value]) => read(value, { [label]: key }))

/** Returns Prometheus' text format. It is built for each scrape, so that removed series disappear. */
export async function textOf(readings: readonly Metric[]): Promise<string> {
  const registry = new Registry()
  const known = readings.filter(({ value }) => typeof value === 'number')
  for (const [name, same] of Map.groupBy(known, (reading) => reading.name)) {
    const { help, kind, labels } = same[0]!
    const means = { name, help, labelNames: Object.keys(labels), registers: [registry] }
    const metric = kind === 'counter' ? new Counter(means) : new Gauge(means)
    for (const one of same) metric.inc(one.labels, one.value!)
  }
  return registry.metrics()
}

export const messagingReadings = (figures: { waiting: number; oldestMs: number | null; dead: number }): Metric[] => [
  gauge('outbox_messages', 'Unpublished messages in the outbox.', figures.waiting),
  seconds('outbox_oldest_age', 'Age of the oldest unpublished message, in seconds; 0 if none.', figures.oldestMs ?? 0),
  gauge('dead_letters', 'Dead letters that are open or waiting for a redrive.', figures.dead),
]
