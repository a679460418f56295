import { headers, type Subscription } from 'nats'
import type { Bus } from '#platform/bus/open'
import { within } from '#platform/deadline'
import type { Log } from '#platform/log'
import { labelExposition, mergeExpositions } from '#platform/metrics/exposition'
import type { Shared } from '#platform/metrics/figures'
import { registry } from '#platform/metrics/measures'
import { gauge, type Metric, seconds, textOf } from '#platform/metrics/metric'
import type { ProcessName } from '#shared/messages/topic'

/** Subject that reaches every instance of every process. */
export const metricsSubject = 'metrics'
export const answererHeaders = { process: 'process', copy: 'copy' } as const

/** Deadline in ms after which a scrape omits the figures. */
const figuresDeadlineMs = 1_000

export const readingsFrom =
  <F>(figures: () => Promise<Shared<F>>, readings: (figures: F) => readonly Metric[]) =>
  async (): Promise<Metric[]> => {
    // The age would become a key, because some figures are keyed by pair.
    const { readMsAgo, ...read } = await figures()
    const age = seconds('figures_age', 'Age of the figures, in seconds.', readMsAgo)
    return [age, ...readings(read as F)]
  }

export type Measured = {
  readonly service: ProcessName
  readonly copy: string
  /** Reads figures from the database and from memory at each scrape. */
  readonly figures: () => Promise<readonly Metric[]>
  readonly log: Log
}

export async function metricsOf({ service, copy, figures, log }: Measured): Promise<string> {
  const read = await within(figures(), figuresDeadlineMs, 'the figures').catch((error) => {
    log.warn({ err: error }, 'database metrics unavailable')
    return undefined
  })
  const help = '1 if the figures from the database could be read, 0 if they are missing.'
  const metrics = [gauge('figures_up', help, read ? 1 : 0), ...(read ?? []), ...processReadings()]
  return labelExposition(mergeExpositions([await registry.metrics(), await textOf(metrics)]), { service, copy })
}

/** Answers scrapes. The text is compressed, because messages have a size limit. */
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
        .catch((fault) => measured.log.warn({ err: fault }, 'metrics response failed'))
    },
  })

function processReadings(): Metric[] {
  const { user, system } = process.cpuUsage()
  const of = (kind: Metric['kind'], name: string, help: string, value: number): Metric => ({
    kind,
    name,
    help,
    value,
    labels: {},
  })
  return [
    of('counter', 'process_cpu_seconds_total', 'CPU time used, in seconds.', (user + system) / 1e6),
    of('gauge', 'process_resident_memory_bytes', 'Resident memory, in bytes.', process.memoryUsage.rss()),
    of('gauge', 'process_start_time_seconds', 'Start time of the process, in Unix seconds.', startedSeconds),
  ]
}

const startedSeconds = Math.round(performance.timeOrigin) / 1_000
