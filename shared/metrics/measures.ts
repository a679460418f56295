import { Counter, Histogram, Registry } from 'prom-client'

// What a process measures is held once for the whole process, as prom-client does by itself: a measure
// is declared beside what it measures, and nothing has to be handed through for it.

/** Everything this process counts and times; the figures that are read from rows are not in it. */
export const registry = new Registry()

/** All names of measures begin so. */
export const namespace = 'ausd'

/**
 * The values that a label may have: those of a list, or whichever come first up to a number. All others
 * are shown as `other`, so that no id, wallet or path that slips into a label adds series without end.
 */
export type Values = readonly string[] | { readonly atMost: number }
type Labels<L extends string> = Readonly<Record<L, Values>>
type Said<L extends string> = Readonly<Record<L, string>>

export const otherValue = 'other'

/** Quick things: a statement, a question. */
export const quickSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** What others take their time for: requests to us, to a provider, to a node. */
export const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** What money takes from one state to another: holds of days are beyond. */
export const flowSeconds = [0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 900, 3_600, 21_600]

/** Times things of one kind; `since` takes what `performance.now()` said when it began. */
export type Timer<L extends string> = {
  readonly since: (startedMs: number, labels: Said<L>) => void
  readonly seconds: (seconds: number, labels: Said<L>) => void
}

/** Declares a histogram of seconds. The name is completed to `ausd_<what>_seconds`. */
export function timer<L extends string>(options: {
  what: string
  help: string
  labels: Labels<L>
  buckets: readonly number[]
}): Timer<L> {
  const { what, help, labels, buckets } = options
  const names = Object.keys(labels) as L[]
  const histogram = new Histogram({
    ...{ name: `${namespace}_${what}_seconds`, help, labelNames: names, registers: [registry] },
    buckets: [...buckets],
  })
  const bound = boundary(labels)
  const seconds = (value: number, said: Said<L>) => histogram.observe(bound(said), value)
  return {
    seconds,
    since: (startedMs, said) => seconds((performance.now() - startedMs) / 1_000, said),
  }
}

/** Declares a counter. The name is completed to `ausd_<what>_total`. */
export function counter<L extends string>(options: {
  what: string
  help: string
  labels: Labels<L>
}): (labels: Said<L>, by?: number) => void {
  const { what, help, labels } = options
  const labelNames = Object.keys(labels) as L[]
  const name = `${namespace}_${what}_total`
  const counted = new Counter({ name, help, labelNames, registers: [registry] })
  const bound = boundary(labels)
  return (said, by = 1) => counted.inc(bound(said), by)
}

/** Puts `other` in the place of every value that its label may not have. */
function boundary<L extends string>(labels: Labels<L>): (said: Said<L>) => Said<L> {
  const known = Object.entries<Values>(labels).map(([name, values]) => {
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
