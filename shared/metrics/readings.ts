import { Counter, Gauge, Registry } from 'prom-client'
import { namespace } from '#shared/metrics/measures'

/** A figure as Prometheus is shown it; one that nobody knows (null) is left out. */
export type Reading = {
  readonly name: string
  readonly kind: 'gauge' | 'counter'
  readonly help: string
  readonly value: number | null | undefined
  readonly labels: Readonly<Record<string, string>>
}

/** A number as it is now. */
export const gauge = (
  what: string,
  help: string,
  value: Reading['value'],
  labels: Reading['labels'] = {},
): Reading => ({ name: `${namespace}_${what}`, kind: 'gauge', help, value, labels })

/** A time in ms, shown in seconds. */
export const seconds = (
  what: string,
  help: string,
  ms: Reading['value'],
  labels: Reading['labels'] = {},
): Reading => gauge(`${what}_seconds`, help, typeof ms === 'number' ? ms / 1_000 : ms, labels)

/** A number that only grows while the process lives. */
export const total = (
  what: string,
  help: string,
  value: Reading['value'],
  labels: Reading['labels'] = {},
): Reading => ({ name: `${namespace}_${what}_total`, kind: 'counter', help, value, labels })

/** The same for each key of a record, which becomes the label. */
export const each = <V>(
  record: Readonly<Record<string, V>>,
  label: string,
  read: (value: V, labels: Reading['labels']) => Reading,
): Reading[] => Object.entries(record).map(([key, value]) => read(value, { [label]: key }))

/** Readings in Prometheus' text format. They are made anew for each scrape: what is gone is not shown. */
export async function textOf(readings: readonly Reading[]): Promise<string> {
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
