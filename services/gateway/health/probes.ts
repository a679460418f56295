import { sql } from 'drizzle-orm'
import type { Bus } from '#shared/bus/open'
import { countDead } from '#shared/db/dead-letter.store'
import type { Database } from '#shared/db/open'
import { outboxLag } from '#shared/db/outbox.store'
import { within } from '#shared/deadline'
import { shareFigures } from '#shared/figures'
import type { Log } from '#shared/log'
import { metricsOf, readingsFrom } from '#shared/metrics/answer'
import { agesOf } from '#shared/overdue'
import { limits } from '../identity/identity'
import { countIdentities, oldestAwaited } from '../identity/identity.store'
import { countRechecks } from '../identity/recheck.store'
import { deadLetters, outbox } from '../schema.store'
import { gatherMetrics } from './gather'
import { type GatewayFigures, readings } from './readings'
import { type DownCopy, openRoster } from './roster'
import { gatherStats } from './stats'
import { readStreams } from './streams'

/** `missing`: what does not answer; none means ready. `down`: single copies, though others may answer. */
export type Readiness = () => Promise<{
  readonly missing: readonly string[]
  readonly down: readonly DownCopy[]
}>

const probeMs = 800

/** Asks Postgres, NATS and every service at once; simultaneous callers share one round. */
function openReadiness(bus: Bus, database: Database): Readiness {
  const roster = openRoster(bus)
  const round = async () => {
    const [postgres, nats, { silent, down }] = await Promise.all([
      missingOf('postgres', () => database.read((db) => db.execute(sql`select 1`))),
      missingOf('nats', () => bus.nc.flush()),
      roster.call(),
    ])
    // Then nobody could be asked, and of nobody it is known that they are silent.
    if (nats.length > 0) return { missing: [...postgres, ...nats], down: [] }
    return { missing: [...postgres, ...silent], down }
  }
  let running: ReturnType<Readiness> | undefined
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
/** Everything the routes of health ask for. */
export function openHealth(bus: Bus, database: Database, log: Log) {
  const figures = shareFigures(openFigures(bus, database))
  const measured = { service: 'gateway', copy: bus.copy, log } as const
  return {
    figures,
    readiness: openReadiness(bus, database),
    gatherStats: () => gatherStats(bus),
    gatherMetrics: () => gatherMetrics(bus),
    ownMetrics: () => metricsOf({ ...measured, figures: readingsFrom(figures, readings) }),
  }
}

/** The gateway's own figures: what waits, what died, whose flag is awaited, who is not answered about; how full streams are. */
const openFigures = (bus: Bus, database: Database) => async (): Promise<GatewayFigures> => {
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
    identities: { ...identities[0]!, oldestMs: agesOf(limits, awaited) },
    identityRechecks: rechecks[0]!,
    streams,
  }
}
