import { sql } from 'drizzle-orm'
import { RequestStrategy } from 'nats'
import type { Bus } from '#shared/bus/open'
import { countDead } from '#shared/db/dead-letter.store'
import type { Database } from '#shared/db/open'
import { outboxLag } from '#shared/db/outbox.store'
import { within } from '#shared/deadline'
import { shareFigures } from '#shared/figures'
import { serviceNames } from '#shared/messages/topic'
import { agesOf } from '#shared/overdue'
import { limits } from '../identity/identity'
import { countIdentities, oldestAwaited } from '../identity/identity.store'
import { countRechecks } from '../identity/recheck.store'
import { deadLetters, outbox } from '../schema.store'
import { readStreams } from './streams'

/** The names of what does not answer; none means ready. */
export type Readiness = () => Promise<readonly string[]>

const probeMs = 800

/** The gateway answers by HTTP; the others over `$SRV.PING`. */
const others = serviceNames.filter((name) => name !== 'gateway')

/** Asks Postgres, NATS and every service at once; simultaneous callers share one round. */
function openReadiness(bus: Bus, database: Database): Readiness {
  const round = async () => {
    const rounds = await Promise.all([
      missingOf('postgres', () => database.read((db) => db.execute(sql`select 1`))),
      missingOf('nats', () => bus.nc.flush()),
      silentServices(bus),
    ])
    return rounds.flat()
  }
  let running: Promise<string[]> | undefined
  return () => {
    running ??= round().finally(() => {
      running = undefined
    })
    return running
  }
}

async function missingOf(name: string, probe: () => Promise<unknown>): Promise<string[]> {
  return within(probe(), probeMs, name).then(
    () => [],
    () => [name],
  )
}

/** Those that did not answer the ping in time; done as soon as all of them did. */
async function silentServices({ nc }: Bus): Promise<string[]> {
  const silent = new Set<string>(others)
  const listening = async () => {
    const replies = await nc.requestMany('$SRV.PING', undefined, {
      strategy: RequestStrategy.Timer,
      maxWait: probeMs,
    })
    for await (const reply of replies) {
      silent.delete(reply.json<{ name: string }>().name)
      if (silent.size === 0) return
    }
  }
  await within(listening(), probeMs, 'the services').catch(() => {})
  return [...silent]
}

/** What a copy of a service says of itself over `$SRV.STATS` (NATS ADR-32). */
export type ServiceStats = {
  readonly name: string
  readonly id: string
  readonly endpoints?: readonly {
    name: string
    num_requests: number
    num_errors: number
    /** Nanoseconds. */
    processing_time: number
    data?: unknown
  }[]
}

/** Prometheus waits 10 s for all of it. */
const gatherMs = 2_000
/** Copies of a service answer together: once every service was heard, so much silence is the end. */
const quietMs = 100

/** Asks every copy of every service; whoever does not answer in time is missing from the list. */
async function gatherStats({ nc }: Bus): Promise<ServiceStats[]> {
  const asked = { strategy: RequestStrategy.Timer, maxWait: gatherMs }
  const replies = (await nc.requestMany('$SRV.STATS', undefined, asked))[Symbol.asyncIterator]()
  const silent = new Set<string>(others)
  const stats: ServiceStats[] = []
  for (;;) {
    const patienceMs = silent.size === 0 ? quietMs : gatherMs
    const reply = await within(replies.next(), patienceMs, 'the next').catch(() => undefined)
    if (!reply || reply.done) return stats
    const one = reply.value.json<ServiceStats>()
    stats.push(one)
    silent.delete(one.name)
  }
}

/** Everything the routes of health ask for. */
export const openHealth = (bus: Bus, database: Database) => ({
  readiness: openReadiness(bus, database),
  gatherStats: () => gatherStats(bus),
  figures: shareFigures(openFigures(bus, database)),
})

/** Its own figures: what waits, what died, whose flag is awaited, who is not answered about; how full streams are. */
const openFigures = (bus: Bus, database: Database) => async () => {
  const [outboxFigures, dead, identities, awaited, rechecks, streams] = await Promise.all([
    outboxLag(database, outbox),
    countDead(database, deadLetters),
    countIdentities(database),
    database.read(oldestAwaited),
    countRechecks(database),
    readStreams(bus).catch(() => ({})),
  ])
  return {
    outbox: outboxFigures,
    deadLetters: dead,
    identities: { ...identities[0], oldestMs: agesOf(limits, awaited) },
    identityRechecks: rechecks[0] ?? {},
    streams,
  }
}
