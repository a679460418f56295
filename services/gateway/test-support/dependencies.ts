import { randomUUID } from 'node:crypto'
import { asker } from '#platform/bus/ask'
import { type Bus, openBus } from '#platform/bus/open'
import { relayOutbox } from '#platform/bus/outbox-relay'
import { publish } from '#platform/bus/publish'
import { type Handler, serve } from '#platform/bus/serve'
import { systemClock as clock } from '#platform/clock'
import { openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import type { ProcessName, Topic } from '#shared/messages/topic'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { provisionNats, startScratchServer } from '#test/support/scratch-server'
import { openApp } from '../app'
import { assemble } from '../assemble'
import type { Config } from '../config'
import { openNews } from '../events/news'
import { openProbes } from '../health/probes'
import { dependencyDeadlineMs } from '../http/deadline'
import { chooseIdentityProvider } from '../identity/providers/choose'
import { runIdentity } from '../identity/run'
import { listen } from '../listen'
import { openOperatorListener } from '../operators/listener'
import { outbox } from '../schema.store'
import { config } from './fixture'

const log = openLog('suite', 'silent')
const onFatal = () => {}

/** Starts Postgres and NATS, provisioned and migrated as in production. */
export async function startBackbone() {
  await using ends = new AsyncDisposableStack()
  const [postgres, nats] = await Promise.all([startScratchPostgres(), startScratchServer()])
  ends.use(postgres)
  ends.use(nats)
  await provisionNats({ url: nats.url, user: 'admin', password: nats.passwords.admin })
  const databaseUrl = postgres.urlAs('gateway', postgres.passwords.gateway)
  const busAs = (name: ProcessName): Promise<Bus> =>
    openBus({ url: nats.url, user: name, password: nats.passwords[name], name, log, onFatal })
  const kept = ends.move()
  return {
    nats,
    busAs,
    database: kept.use(openDatabase({ url: databaseUrl, name: 'suite', log, onFatal })),
    databaseUrl,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
export type Dependencies = Awaited<ReturnType<typeof startBackbone>>

/** Starts a gateway on a port of its own. */
export async function startGateway(
  backbone: Dependencies,
  over: Partial<Config> = {},
  leaving = new AbortController().signal,
) {
  await using ends = new AsyncDisposableStack()
  const bus = ends.use(await backbone.busAs('gateway'))
  const database = ends.use(openDatabase({ url: backbone.databaseUrl, name: 'gateway', log, onFatal }))
  const relay = ends.use(relayOutbox({ bus, database, outbox, log }))
  const own = { ...config, recheckAfterMs: 60_000, recheckEveryMs: 50, ...over }
  // Webhooks of these suites name applicants that no provider knows.
  const provider = { ...chooseIdentityProvider(own, clock), findSamePerson: async () => [] }
  const context = assemble(own, {
    database,
    ask: asker(bus, dependencyDeadlineMs),
    publish: (message) => publish(bus, message),
    news: openNews(bus, database),
    provider,
    copies: { count: () => 1 },
    health: openProbes(bus, database, log),
    leaving,
    log,
    clock,
    poke: relay.poke,
  })
  ends.use(runIdentity(context, bus, onFatal))
  const anyPort = { host: '127.0.0.1', port: 0, leaving }
  const ops = ends.use(listen(openOperatorListener(context), anyPort))
  const server = ends.use(listen(openApp(context), anyPort))
  const kept = ends.move()
  return {
    url: `http://127.0.0.1:${server.port}`,
    ops: `http://127.0.0.1:${ops.port}`,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Answers requests with the NATS permissions of the given service. */
export async function answerAs(backbone: Dependencies, name: ProcessName, answers: readonly Handler[]) {
  const bus = await backbone.busAs(name)
  const served = await serve({
    bus,
    name,
    description: 'answers in its place',
    answers,
    stats: async () => ({ asked: 1 }),
    log,
  })
  return {
    tell: (topic: Topic, payload: unknown) => publish(bus, { subject: topic.subject, id: randomUUID(), payload }),
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]()
      await bus[Symbol.asyncDispose]()
    },
  }
}
