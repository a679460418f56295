import type { Clock } from '#shared/clock'
import type { Log } from '#shared/log'
import { type Loop, startLoop } from '#shared/loop'
import { serviceNames } from '#shared/messages/topic'
import type { ServiceStats } from '../health/stats'
import type { Queue } from './live'

/** The state of the whole, as of a moment. */
export type Seen = {
  readonly asOf: string
  /** Why something is missing from it. */
  readonly missing: readonly string[]
  readonly services: readonly { name: string; copies: number; figures: unknown }[]
  readonly queues: readonly Queue[]
}

/** Reads while somebody watches, once for all who do. */
export type Overview = AsyncDisposable & {
  readonly watch: (watcher: (seen: Seen) => void) => () => void
}

/** Each reading costs every service a handful of statements: this is what they are to cost in all. */
const everyMs = 10_000

export type OverviewOptions = {
  gatherStats: () => Promise<readonly ServiceStats[]>
  /** The gateway answers no questions, so that it does not tell its own with the others. */
  ownFigures: () => Promise<Record<string, unknown>>
  queues: () => Promise<readonly Queue[]>
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

async function look({ gatherStats, ownFigures, queues, clock }: OverviewOptions): Promise<Seen> {
  const missing: string[] = []
  const orNone =
    <T>(what: string, none: T) =>
    (error: Error) => {
      missing.push(`${what}: ${error.message}`)
      return none
    }
  const [stats, own, found] = await Promise.all([
    gatherStats().catch(orNone('figures of the services', [])),
    ownFigures().catch(orNone('figures of the gateway', {})),
    queues().catch(orNone('queues', [])),
  ])
  const figuresOf = (copies: readonly ServiceStats[]) =>
    copies.flatMap(({ endpoints = [] }) => endpoints.flatMap(({ data }) => data ?? []))[0] ?? {}
  const services = serviceNames.map((name) => {
    const copies = stats.filter((one) => one.name === name)
    return { name, copies: copies.length, figures: name === 'gateway' ? own : figuresOf(copies) }
  })
  const books = stats.filter((one) => one.name === 'books')
  const told = [...services, { name: 'books', copies: books.length, figures: figuresOf(books) }]
  const silent = services.filter(({ copies }) => copies === 0).map(({ name }) => name)
  return {
    asOf: new Date(clock()).toISOString(),
    missing: [...missing, ...silent.map((name) => `${name} does not answer`)],
    services: told,
    queues: found,
  }
}
