import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Registry of counters and timers; figures read from the database are not in it. */
export const registry = new Registry()

export const namespace = 'ausd'

/**
 * Allowed values of a label. All others become `other`, so that an id, wallet or path cannot add series without limit.
 */
export type MeasureValues = readonly string[] | { readonly atMost: number }
type Labels<L extends string> = Readonly<Record<L, MeasureValues>>
type LabelValues<L extends string> = Readonly<Record<L, string>>

const otherValue = 'other'

/** Buckets for a statement or a NATS request, in seconds. */
export const quickSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Buckets for HTTP requests to us, to a provider or to a node, in seconds. */
export const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Buckets for the time between two states of a payment, in seconds; holds of days fall beyond the last. */
export const flowSeconds = [0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 900, 3_600, 21_600]

/** A timer, whose `since` takes the `performance.now()` of the start. */
export type Timer<L extends string> = {
  readonly since: (startedMs: number, labels: LabelValues<L>) => void
  readonly seconds: (seconds: number, labels: LabelValues<L>) => void
}

/** Declares a timer named `ausd_<what>_seconds`. */
export function timer<L extends string>(options: {
  what: string
  help: string
  labels: Labels<L>
  buckets: readonly number[]
}): Timer<L> {
  const { what, help, labels, buckets } = options
  const names = Object.keys(labels) as L[]
  const histogram = new Histogram({
    name: `${namespace}_${what}_seconds`,
    help,
    labelNames: names,
    registers: [registry],
    buckets: [...buckets],
  })
  for (const said of combinations(labels)) histogram.zero(said)
  const bound = boundary(labels)
  const seconds = (value: number, said: LabelValues<L>) => histogram.observe(bound(said), value)
  return {
    seconds,
    since: (startedMs, said) => seconds((performance.now() - startedMs) / 1_000, said),
  }
}

/** Declares a counter named `ausd_<what>_total`. */
export function counter<L extends string>(options: {
  what: string
  help: string
  labels: Labels<L>
}): (labels: LabelValues<L>, by?: number) => void {
  const { what, help, labels } = options
  const labelNames = Object.keys(labels) as L[]
  const name = `${namespace}_${what}_total`
  const counted = new Counter({ name, help, labelNames, registers: [registry] })
  const bound = boundary(labels)
  return (said, by = 1) => counted.inc(bound(said), by)
}

/** Declares a gauge named `ausd_<what>`, for a state that the process itself knows. */
export function gauge<L extends string>(options: {
  what: string
  help: string
  labels: Labels<L>
}): (labels: LabelValues<L>, value: number) => void {
  const { what, help, labels } = options
  const labelNames = Object.keys(labels) as L[]
  const measured = new Gauge({ name: `${namespace}_${what}`, help, labelNames, registers: [registry] })
  const bound = boundary(labels)
  return (said, value) => measured.set(bound(said), value)
}

/**
 * Returns all label values if every label is a list. Their series begin at 0, because `rate` and `increase` do not
 * count the first value of a new series.
 */
function combinations<L extends string>(labels: Labels<L>): LabelValues<L>[] {
  let all: Partial<LabelValues<L>>[] = [{}]
  for (const [name, values] of Object.entries<MeasureValues>(labels)) {
    if (!('length' in values)) return []
    all = all.flatMap((one) => values.map((value) => ({ ...one, [name]: value })))
  }
  return all as LabelValues<L>[]
}

function boundary<L extends string>(labels: Labels<L>): (said: LabelValues<L>) => LabelValues<L> {
  const known = Object.entries<MeasureValues>(labels).map(([name, values]) => {
    const isList = 'length' in values
    const most = isList ? values.length : values.atMost
    return { name: name as L, most, seen: new Set<string>(isList ? values : []) }
  })
  const isKnown = (seen: Set<string>, most: number, value: string) =>
    seen.has(value) || (seen.size < most && seen.add(value) !== undefined)
  return (said) => {
    let bounded = said
    for (const { name, most, seen } of known)
      if (!isKnown(seen, most, said[name])) bounded = { ...bounded, [name]: otherValue }
    return bounded
  }
}
