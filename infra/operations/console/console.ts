import { openInstanceRoster } from '#platform/bus/instances'
import { type Bus, openBus } from '#platform/bus/open'
import type { Handler } from '#platform/bus/serve'
import type { Clock } from '#platform/clock'
import type { Log } from '#platform/log'
import { feedSubject } from '#shared/messages/operations'
import type { Floors } from '../health/attention'
import { readFacts } from '../health/facts'
import type { Place } from '../place'
import { consoleAnswers } from './answers'
import { openFeed } from './feed'
import { openItems } from './items'
import { openLive } from './live'
import { readMoney } from './money'
import { openOverview } from './overview'

export type ConsoleOptions = {
  /** The process's own connection, which answers the questions and publishes the feed. */
  readonly bus: Bus
  /** Login of the NATS user `console`, which receives every message and can publish nothing. */
  readonly listener: { readonly url: string; readonly password: string }
  /** URL of Postgres in the role `auditor`. */
  readonly databaseUrl: string
  readonly place: Place
  readonly floors: Floors
  readonly token: string
  readonly clock: Clock
  readonly log: Log
}

/** Opens the console. Each of its readers connects on first use. */
export function openConsole(options: ConsoleOptions): AsyncDisposable & { readonly answers: readonly Handler[] } {
  const { bus, clock, log, place, floors, token } = options
  const listener = { ...options.listener, user: 'console', name: 'console', log }
  const live = openLive({
    open: () => openBus({ ...listener, onFatal: () => {} }),
    clock,
    log,
  })
  const ownBus = async () => bus
  const items = openItems({ databaseUrl: options.databaseUrl, bus: ownBus, clock })
  const roster = openInstanceRoster(bus)
  const { sql } = items
  const overview = openOverview({
    readFacts: () => readFacts({ sql, bus: ownBus, roster, place }),
    readMoney: () => readMoney(sql),
    floors,
    clock,
    log,
  })
  const publish = (event: object) => bus.nc.publish(feedSubject, JSON.stringify(event))
  const feed = openFeed({ live, overview, publish })
  return {
    answers: consoleAnswers({ token, items, feed, log }),
    [Symbol.asyncDispose]: async () => {
      feed[Symbol.dispose]()
      await overview[Symbol.asyncDispose]()
      await Promise.all([items[Symbol.asyncDispose](), live[Symbol.asyncDispose]()])
    },
  }
}
