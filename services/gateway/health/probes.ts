import { sql } from 'drizzle-orm'
import { asker } from '#platform/bus/ask'
import { type DownInstance, openInstanceRoster } from '#platform/bus/instances'
import type { Bus } from '#platform/bus/open'
import { countDead } from '#platform/db/dead-letter.store'
import type { Database } from '#platform/db/open'
import { outboxLag } from '#platform/db/outbox.store'
import { within } from '#platform/deadline'
import type { Log } from '#platform/log'
import { metricsOf, readingsFrom } from '#platform/metrics/answer'
import { shareFigures } from '#platform/metrics/figures'
import { agesOf } from '#platform/metrics/state-limits'
import { HeartbeatsMissed } from '#shared/messages/operations'
import { limits } from '../identity/identity'
import { countIdentities, oldestAwaited } from '../identity/identity.store'
import { countRechecks } from '../identity/recheck.store'
import { deadLetters, outbox } from '../schema.store'
import { collectMetrics } from './collect'
import { type GatewayFigures, gatewayMetrics } from './gateway-metrics'
import { readStreams } from './streams'

/**
 * Readiness of the deployment. `missing` lists dependencies that do not respond, and Postgres if it refuses writes;
 * `down` lists single instances that do not respond.
 */
export type Readiness = () => Promise<{
  readonly missing: readonly string[]
  readonly down: readonly DownInstance[]
}>

const probeMs = 800

/** Probes the dependencies; simultaneous callers share one round. */
function openReadiness(bus: Bus, database: Database): Readiness {
  const roster = openInstanceRoster(bus)
  const ask = asker(bus, probeMs)
  /** Returns true if Postgres has refused the writes of `operations` lately. Without `operations` it is unknown. */
  const refusesWrites = () =>
    ask(HeartbeatsMissed, {}).then(
      (answer) => 'ok' in answer && answer.ok.missed.includes('postgres'),
      () => false,
    )
  const round = async () => {
    const [postgres, nats, { silent, down }, isReadOnly] = await Promise.all([
      missingOf('postgres', () => database.read((db) => db.execute(sql`select 1`))),
      missingOf('nats', () => bus.nc.flush()),
      roster.call(),
      refusesWrites(),
    ])
    if (isReadOnly && postgres.length === 0) postgres.push('postgres')
    // Without NATS no service could be asked.
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
export function openProbes(bus: Bus, database: Database, log: Log) {
  const figures = shareFigures(openFigures(bus, database))
  const measured = { service: 'gateway', copy: bus.copy, log } as const
  return {
    figures,
    readiness: openReadiness(bus, database),
    collectMetrics: () => collectMetrics(bus),
    ownMetrics: () => metricsOf({ ...measured, figures: readingsFrom(figures, gatewayMetrics) }),
  }
}

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
