import type { Clock } from '#shared/clock'
import { within } from '#shared/deadline'
import type { Log } from '#shared/log'
import { type Loop, startLoop } from '#shared/loop'
import { serviceNames } from '#shared/messages/topic'
import type { Readiness } from '../health/probes'
import type { ServiceStats } from '../health/stats'
import type { Queue } from './live'
import { type Judged, needsOf, type Read, type Told } from './needs'
import type { Standing } from './standing'

/** State of the whole system at one moment. */
export type Seen = Judged & {
  readonly asOf: string
  readonly services: readonly Told[]
  readonly queues: readonly Queue[]
}

/** Shared periodic reading of the system's state, active only while a page watches. */
export type Overview = AsyncDisposable & {
  readonly watch: (watcher: (seen: Seen) => void) => () => void
}

/** Interval between readings; each costs every service a few database queries. */
const everyMs = 10_000
/** Deadline for each part of a reading; a later part is reported as unknown. */
const readMs = 4_000

export type OverviewOptions = {
  gatherStats: () => Promise<readonly ServiceStats[]>
  /** The gateway's own figures, which it does not serve on the bus. */
  ownFigures: () => Promise<Record<string, unknown>>
  readiness: Readiness
  queues: () => Promise<readonly Queue[]>
  /** Metrics of all processes as one text. */
  metrics: () => Promise<string>
  standing: () => Promise<Standing>
  clock: Clock
  log: Log
}

/** Opens the overview. Without a watcher it reads nothing; a new watcher gets the last reading at once. */
export function openOverview(options: OverviewOptions): Overview {
  const watchers = new Set<(seen: Seen) => void>()
  let last: Seen | undefined
  let loop: Loop | undefined
  const work = async () => {
    // Reopening a page repeatedly must cost no more than keeping it open.
    const isFresh = last && options.clock() - Date.parse(last.asOf) < everyMs / 2
    if (!isFresh) last = await look(options)
    if (last) for (const watcher of watchers) watcher(last)
  }
  return {
    watch: (watcher) => {
      watchers.add(watcher)
      if (loop && last) watcher(last)
      loop ??= startLoop({ name: 'console', everyMs, log: options.log, work })
      return () => {
        if (!watchers.delete(watcher) || watchers.size > 0) return
        void loop?.[Symbol.asyncDispose]()
        loop = undefined
      }
    },
    [Symbol.asyncDispose]: async () => loop?.[Symbol.asyncDispose](),
  }
}

async function look(options: OverviewOptions): Promise<Seen> {
  const [stats, own, readiness, queues, metrics, standing] = await Promise.all([
    readOf(options.gatherStats),
    readOf(options.ownFigures),
    readOf(options.readiness),
    readOf(options.queues),
    readOf(options.metrics),
    readOf(options.standing),
  ])
  const nowMs = options.clock()
  const services = toldBy('known' in stats ? stats.known : [], 'known' in own ? own.known : {})
  return {
    asOf: new Date(nowMs).toISOString(),
    ...needsOf({ services, readiness, queues, metrics, standing, nowMs }),
    services,
    queues: 'known' in queues ? queues.known : [],
  }
}

const readOf = <T>(read: () => Promise<T>): Promise<Read<T>> =>
  within(read(), readMs, 'the answer').then(
    (known) => ({ known }),
    (error: Error) => ({ unknown: error.message }),
  )

/** Lists figures by service. The gateway itself responds on the bus, so no responses means a bus failure. */
function toldBy(stats: readonly ServiceStats[], own: Record<string, unknown>): Told[] {
  return [...serviceNames, 'books'].map((name) => {
    const copies = stats.filter((one) => one.name === name)
    const told = copies.flatMap(({ endpoints = [] }) => endpoints.flatMap(({ data }) => data ?? []))
    return {
      name,
      copies: stats.length === 0 ? null : copies.length,
      figures: name === 'gateway' ? own : ((told[0] ?? {}) as Told['figures']),
    }
  })
}
