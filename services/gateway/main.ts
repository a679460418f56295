import { asker } from '#shared/bus/ask'
import { relayOutbox } from '#shared/bus/outbox-relay'
import { publish } from '#shared/bus/publish'
import { serve } from '#shared/bus/serve'
import { systemClock as clock } from '#shared/clock'
import { openServiceBus, openServiceDatabase, runService, untilStopped } from '#shared/service'
import { openApp } from './app.ts'
import { fields } from './config.ts'
import { openFigures } from './health/figures.ts'
import { openReadiness } from './health/readiness.ts'
import { gatherStats } from './health/service-stats.ts'
import { openIdentityDesk } from './identity/identity-desk.ts'
import { listen } from './listen.ts'
import { outbox } from './schema.store.ts'
import { settingsOf } from './settings.ts'
import { openUsers } from './users/user.store.ts'

await runService('gateway', fields, async (config, runtime) => {
  const { log, signal, stuck } = runtime
  await using bus = await openServiceBus('gateway', config, runtime)
  await using database = openServiceDatabase('gateway', config, runtime)
  await using relay = relayOutbox({ bus, database, outbox, log })
  const ask = asker(bus)
  const { poke } = relay
  const parts = { config, bus, database, ask, clock, log, poke, onStuck: stuck }
  await using identity = openIdentityDesk(parts)
  const figures = openFigures(database)
  const description = 'HTTP interface, sign-in, identity, webhooks in; answers no questions'
  const shown = { bus, name: 'gateway', description, answers: [], stats: figures, log } as const
  await using _listed = await serve(shown) // So that `nats micro ls` shows the whole system.
  const app = await openApp({
    ask,
    publish: (message) => publish(bus, message),
    users: openUsers(database),
    identity,
    readiness: openReadiness(bus, database),
    gatherStats: () => gatherStats(bus),
    figures,
    clock,
    log,
    settings: settingsOf(config),
  })
  await using server = listen(app, { host: config.httpHost, port: config.httpPort })
  log.info({ port: server.port }, 'gateway listening')
  await untilStopped(signal)
})
