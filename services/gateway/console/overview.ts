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

/** The state of the whole, as of a moment. */
export type Seen = Judged & {
  readonly asOf: string
  readonly services: readonly Told[]
  readonly queues: readonly Queue[]
}

/** Reads while somebody watches, once for all who do. */
export type Overview = AsyncDisposable & {
  readonly watch: (watcher: (seen: Seen) => void) => () => void
}

/** Each reading costs every service a handful of statements: this is what they are to cost in all. */
const everyMs = 10_000
/** What takes longer is not seen this time. */
const readMs = 4_000

export type OverviewOptions = {
  gatherStats: () => Promise<readonly ServiceStats[]>
  /** The gateway answers no questions, so that it does not tell its own with the others. */
  ownFigures: () => Promise<Record<string, unknown>>
  readiness: Readiness
  queues: () => Promise<readonly Queue[]>
  /** What all processes measure, as one text. */
  metrics: () => Promise<string>
  standing: () => Promise<Standing>
  clock: Clock
  log: Log
}

/** Nothing is read while nobody watches; whoever comes in between gets the last reading. */
export function openOverview(options: OverviewOptions): Overview {
  const watchers = new Set<(seen: Seen) => void>()
  let last: Seen | undefined
  let loop: Loop | undefined
  const work = async () => {
    // A page that is opened again and again is to cost no more than one that stays open.
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

/** The gateway itself answers over the bus: when nobody did, it was the bus that did not. */
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
