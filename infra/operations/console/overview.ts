import type { Clock } from '#platform/clock'
import type { Log } from '#platform/log'
import { type Loop, startLoop } from '#platform/loop'
import { processNames } from '#shared/messages/topic'
import { attention, type Floors } from '../health/attention'
import type { Lag, ServiceFigures } from '../health/bus'
import type { SystemFacts, Unread } from '../health/facts'
import type { MoneyInFlight } from './money'

/** Service as the overview shows it. `copies` is the number of instances, or null if NATS could not be asked. */
export type ServiceReport = {
  readonly name: string
  readonly copies: number | null
  readonly figures: ServiceFigures
}

export type OverviewFacts = {
  readonly asOf: string
  /** Lines of `bun run ops status`; `unread` lists what could not be checked. */
  readonly needs: readonly string[]
  readonly unread: readonly string[]
  readonly services: readonly ServiceReport[]
  readonly queues: readonly Lag[]
  /** Undefined if the rows cannot be read. */
  readonly money: MoneyInFlight | undefined
}

/** Readings of the whole system, which are made only while a page watches. */
export type Overview = AsyncDisposable & {
  readonly watch: (watcher: (seen: OverviewFacts) => void) => () => void
  readonly last: () => OverviewFacts | undefined
}

/** Interval of readings. Each costs every service a few database queries. */
const everyMs = 10_000
/** Minimum pause between readings, as a multiple of the time that the rows took. */
const restShare = 20

export type OverviewOptions = {
  readonly readFacts: () => Promise<SystemFacts | Unread>
  readonly readMoney: () => Promise<MoneyInFlight>
  readonly floors: Floors
  readonly clock: Clock
  readonly log: Log
}

export function openOverview(options: OverviewOptions): Overview {
  const { clock, log } = options
  const watchers = new Set<(seen: OverviewFacts) => void>()
  let last: OverviewFacts | undefined
  let rowsMs = 0
  let loop: Loop | undefined
  const work = async () => {
    const startedMs = clock()
    // Reopening a page repeatedly must cost no more than keeping it open.
    const restMs = Math.max(everyMs / 2, restShare * rowsMs)
    const isFresh = last && startedMs - Date.parse(last.asOf) < restMs
    if (!isFresh) {
      // The rows are timed without NATS, where a silent service makes every reading slow.
      const money = options.readMoney().then((found) => {
        rowsMs = clock() - startedMs
        return found
      })
      last = await look(options, money)
    }
    if (last) for (const watcher of watchers) watcher(last)
  }
  return {
    last: () => last,
    watch: (watcher) => {
      watchers.add(watcher)
      if (loop && last) watcher(last)
      loop ??= startLoop({ name: 'console', everyMs, log, work })
      return () => {
        if (!watchers.delete(watcher) || watchers.size > 0) return
        void loop?.[Symbol.asyncDispose]()
        loop = undefined
      }
    },
    [Symbol.asyncDispose]: async () => loop?.[Symbol.asyncDispose](),
  }
}

async function look(
  { readFacts, floors, clock }: OverviewOptions,
  readingMoney: Promise<MoneyInFlight>,
): Promise<OverviewFacts> {
  const [facts, money] = await Promise.all([readFacts(), readingMoney.catch(() => undefined)])
  const { needs, unread } = attention(facts, floors)
  const onBus = 'known' in facts.bus ? facts.bus.known : undefined
  return {
    asOf: new Date(clock()).toISOString(),
    needs: needs.map(({ line }) => line),
    unread: unread.map(({ line }) => line),
    services: processNames.map((name) => ({
      name,
      copies: onBus ? (onBus.copies[name] ?? 0) : null,
      figures: onBus?.figures[name] ?? {},
    })),
    queues: onBus?.lags ?? [],
    money,
  }
}
