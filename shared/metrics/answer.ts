import { headers, type Subscription } from 'nats'
import type { Bus } from '#shared/bus/open'
import { within } from '#shared/deadline'
import type { Shared } from '#shared/figures'
import type { Log } from '#shared/log'
import type { ProcessName } from '#shared/messages/topic'
import { labelled, merged } from '#shared/metrics/exposition'
import { registry } from '#shared/metrics/measures'
import { gauge, type Reading, seconds, textOf } from '#shared/metrics/readings'

/** Where every copy of every process is asked for what it measures. */
export const metricsSubject = 'metrics'
/** Who answers, before its text is read. */
export const answererHeaders = { process: 'process', copy: 'copy' } as const

/** A scrape is not to wait for a database that hangs: without the figures it says the rest. */
const figuresDeadlineMs = 1_000

/** Figures that are shared between all who ask, as readings, with their age. */
export const readingsFrom =
  <F>(figures: () => Promise<Shared<F>>, readings: (figures: F) => readonly Reading[]) =>
  async (): Promise<Reading[]> => {
    // The age is not one of the figures: some are a record of pairs, and would have one more.
    const { readMsAgo, ...read } = await figures()
    const age = seconds('figures_age', 'How long ago the figures were read.', readMsAgo)
    return [age, ...readings(read as F)]
  }

/** A process, as it is shown in the labels of all that it measures. */
export type Measured = {
  readonly service: ProcessName
  /** Names the process among the copies of its service. */
  readonly copy: string
  /** What is read from rows and states when somebody asks. */
  readonly figures: () => Promise<readonly Reading[]>
  readonly log: Log
}

/** All that this process measures, in Prometheus' text format. */
export async function metricsOf({ service, copy, figures, log }: Measured): Promise<string> {
  const read = await within(figures(), figuresDeadlineMs, 'the figures').catch((error) => {
    log.warn({ err: error }, 'figures are missing')
    return undefined
  })
  const help = 'Whether the figures that come from rows could be read (1) or are missing (0).'
  const told = [gauge('figures_up', help, read ? 1 : 0), ...(read ?? []), ...processReadings()]
  return labelled(merged([await registry.metrics(), await textOf(told)]), { service, copy })
}

/** Answers whoever gathers what all processes measure; the text is packed, a message has its limit. */
export const answerMetrics = (bus: Bus, measured: Omit<Measured, 'copy'>): Subscription =>
  bus.nc.subscribe(metricsSubject, {
    callback: (error, message) => {
      if (error) return
      const { copy } = bus
      void metricsOf({ ...measured, copy })
        .then((text) => {
          const carried = headers()
          carried.set(answererHeaders.process, measured.service)
          carried.set(answererHeaders.copy, copy)
          message.respond(Bun.gzipSync(text), { headers: carried })
        })
        .catch((fault) => measured.log.warn({ err: fault }, 'metrics could not be told'))
    },
  })

/** Under the names that every library of Prometheus gives them. */
function processReadings(): Reading[] {
  const { user, system } = process.cpuUsage()
  const of = (kind: Reading['kind'], name: string, help: string, value: number): Reading => ({
    ...{ kind, name, help, value },
    labels: {},
  })
  return [
    of('counter', 'process_cpu_seconds_total', 'Processor time.', (user + system) / 1e6),
    of('gauge', 'process_resident_memory_bytes', 'Memory held.', process.memoryUsage.rss()),
    of('gauge', 'process_start_time_seconds', 'When it started, unix time.', startedSeconds),
  ]
}

const startedSeconds = Math.round(performance.timeOrigin) / 1_000
