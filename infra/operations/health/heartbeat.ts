import { sql } from 'drizzle-orm'
import { headers } from 'nats'
import { heartbeatSubject, streams } from '#infra/nats/topology'
import type { Bus } from '#platform/bus/open'
import { type Handler, handler } from '#platform/bus/serve'
import { type Clock, steadyClock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import { within } from '#platform/deadline'
import { type Log, openLogThrottled } from '#platform/log'
import { type Metric, seconds } from '#platform/metrics/metric'
import { HeartbeatsMissed } from '#shared/messages/operations'
import { ok } from '#shared/refusals'
import { heartbeatMaxMs } from '../alerts/kinds/messages'
import { heartbeats } from '../books/schema.store'

/** Last proof that a dependency does its work: `through` is `postgres` or a stream, `says` the reason of a failure. */
export type Heartbeat = { readonly through: string; readonly ageMs: number; readonly says: string | null }

export const heartbeatEveryMs = 15_000
const answerMs = 5_000
const alarmAgainMs = 600_000
/** Life of a heartbeat in a stream. */
const livesFor = '5s'

export type Heartbeats = {
  /** Writes one row and one message into each stream. */
  readonly beat: () => Promise<void>
  readonly figures: () => Heartbeat[]
  readonly answer: Handler
}

/**
 * Opens the heartbeats, by which the work itself proves that Postgres takes writes and each stream messages: either may
 * answer every question, and refuse all work.
 */
export function openHeartbeats(options: { bus: Bus; database: Database; log: Log; clock?: Clock }): Heartbeats {
  const { bus, database, log, clock = steadyClock } = options
  const call = openLogThrottled(log, clock, alarmAgainMs)
  const openedAt = clock()
  const known = new Map<string, { at: number; says: string | null }>()
  const places: Readonly<Record<string, () => Promise<unknown>>> = {
    postgres: () => writeRow(database),
    ...Object.fromEntries(streams.map(({ name }) => [name, () => storeMessage(bus, name)])),
  }
  const figures = () =>
    Object.keys(places).map((through): Heartbeat => {
      const { at, says } = known.get(through) ?? { at: openedAt, says: null }
      return { through, ageMs: Math.round(clock() - at), says }
    })
  const prove = async (through: string, work: () => Promise<unknown>) => {
    try {
      await within(work(), answerMs, through)
      known.set(through, { at: clock(), says: null })
    } catch (error) {
      known.set(through, { at: known.get(through)?.at ?? openedAt, says: (error as Error).message })
    }
  }
  return {
    figures,
    answer: handler(HeartbeatsMissed, async () => ok({ missed: missedAmong(figures()).map(({ through }) => through) })),
    beat: async () => {
      await Promise.all(Object.entries(places).map(([through, work]) => prove(through, work)))
      for (const { through, ageMs, says } of figures())
        if (ageMs > heartbeatMaxMs) call.alarm(through, { through, ageMs, says }, 'heartbeat missed')
    },
  }
}

const writeRow = (database: Database) =>
  database.run((db) =>
    db
      .insert(heartbeats)
      .values({ name: 'operations', beatAt: sql`clock_timestamp()` })
      .onConflictDoUpdate({ target: heartbeats.name, set: { beatAt: sql`excluded.beat_at` } }),
  )

function storeMessage({ js }: Bus, stream: string) {
  const lives = headers()
  lives.set('Nats-TTL', livesFor)
  // WEBHOOKS holds one message per subject.
  return js.publish(heartbeatSubject(stream, crypto.randomUUID()), '', {
    headers: lives,
    expect: { streamName: stream },
  })
}

/** Returns the heartbeats that are missed. */
export const missedAmong = (beats: readonly Heartbeat[]): Heartbeat[] =>
  beats.filter(({ ageMs }) => ageMs > heartbeatMaxMs)

export const heartbeatMetrics = (beats: readonly Heartbeat[]): Metric[] =>
  beats.map(({ through, ageMs }) =>
    seconds('heartbeat_age', 'Time since a write into Postgres or a message into a stream was stored.', ageMs, {
      through,
    }),
  )
