import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { migrateAll } from '#infra/migrations/migrate'
import { startScratchPostgres } from '#infra/migrations/scratch-postgres'
import { provisionNats } from '#infra/nats/provision'
import { startScratchServer } from '#infra/nats/scratch-server'
import { asker } from '#shared/bus/ask'
import { type Bus, openBus } from '#shared/bus/open'
import { relayOutbox } from '#shared/bus/outbox-relay'
import { publish } from '#shared/bus/publish'
import { type Answering, serve } from '#shared/bus/serve'
import { systemClock } from '#shared/clock'
import { openDatabase } from '#shared/db/open'
import type { ServiceName, Topic } from '#shared/messages/topic'
import { openApp } from '../app.ts'
import { openFigures } from '../health/figures.ts'
import { openReadiness } from '../health/readiness.ts'
import { gatherStats } from '../health/service-stats.ts'
import { openIdentityDesk } from '../identity/identity-desk.ts'
import { listen } from '../listen.ts'
import { outbox } from '../schema.store.ts'
import { openUsers } from '../users/user.store.ts'
import { settings, webhookSecret } from './collaborators.ts'

/** As in production. */
const recheckTerms = {
  identityRecheckOpenMs: 3_600_000,
  identityRecheckOpenForMs: 259_200_000,
  identityRecheckMs: 86_400_000,
  identityRecheckForMs: 2_592_000_000,
  identityRechecksPerMinute: 120,
}
const log = pino({ level: 'silent' })
const onStuck = () => {}

/** A real Postgres and a real nats-server, provisioned and migrated as everywhere. */
export async function startBackbone() {
  await using ends = new AsyncDisposableStack()
  const [postgres, nats] = await Promise.all([startScratchPostgres(), startScratchServer()])
  ends.use(postgres)
  ends.use(nats)
  const provision = () =>
    provisionNats({ url: nats.url, user: 'admin', password: nats.passwords.admin })
  await Promise.all([
    provision(),
    migrateAll({ adminUrl: postgres.adminUrl, passwords: postgres.passwords }),
  ])
  const databaseUrl = postgres.urlAs('gateway', postgres.passwords.gateway)
  const busAs = (name: ServiceName): Promise<Bus> =>
    openBus({ url: nats.url, user: name, password: nats.passwords[name], name, log, onStuck })
  const kept = ends.move()
  return {
    nats,
    busAs,
    database: kept.use(openDatabase({ url: databaseUrl, name: 'suite', log, onStuck })),
    databaseUrl,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
export type Backbone = Awaited<ReturnType<typeof startBackbone>>

/** The gateway as `main.ts` wires it, on a port of its own. */
export async function startGateway(
  backbone: Backbone,
  { sweepAfterMs = 60_000, sweepEveryMs = 50, identityApiUrl = 'http://127.0.0.1:9' } = {},
) {
  await using ends = new AsyncDisposableStack()
  const bus = ends.use(await backbone.busAs('gateway'))
  const database = ends.use(
    openDatabase({ url: backbone.databaseUrl, name: 'gateway', log, onStuck }),
  )
  const { poke } = ends.use(relayOutbox({ bus, database, outbox, log }))
  const ask = asker(bus)
  const config = {
    identityProvider: 'sumsub' as const,
    identityApiUrl,
    identityAppToken: 'app-token',
    identitySecretKey: 'secret-key',
    identityWebhookSecrets: [webhookSecret],
    identityLevel: 'basic-kyc-level',
    identityEnvironment: 'sandbox' as const,
    sweepAfterMs,
    sweepEveryMs,
    ...recheckTerms,
  }
  const clock = systemClock
  const identity = ends.use(
    openIdentityDesk({ config, bus, database, ask, clock, log, poke, onStuck }),
  )
  const app = await openApp({
    ask,
    publish: (message) => publish(bus, message),
    users: openUsers(database),
    identity,
    readiness: openReadiness(bus, database),
    gatherStats: () => gatherStats(bus),
    figures: openFigures(database),
    clock,
    log,
    settings,
  })
  const server = ends.use(listen(app, { host: '127.0.0.1', port: 0 }))
  const kept = ends.move()
  return {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Stands in for another service, under that service's own rights. */
export async function standIn(
  backbone: Backbone,
  name: ServiceName,
  answers: readonly Answering[],
) {
  const bus = await backbone.busAs(name)
  const served = await serve({
    bus,
    name,
    description: 'stands in for it',
    answers,
    stats: async () => ({ stood: 1 }),
    log,
  })
  return {
    tell: (topic: Topic, payload: unknown) =>
      publish(bus, { subject: topic.subject, id: randomUUID(), payload }),
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]()
      await bus[Symbol.asyncDispose]()
    },
  }
}
