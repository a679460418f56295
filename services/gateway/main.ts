import { asker } from '#platform/bus/ask'
import { countInstances } from '#platform/bus/instances'
import { relayOutbox } from '#platform/bus/outbox-relay'
import { publish } from '#platform/bus/publish'
import { serve } from '#platform/bus/serve'
import { openDatabaseClock } from '#platform/db/clock'
import { pause } from '#platform/deadline'
import { watchOverdue } from '#platform/metrics/state-limits'
import { openServiceBus, openServiceDatabase, runService, runUntilStopped } from '#platform/service'
import { guardCommands } from '#shared/operators/guard'
import { operatorRules } from '#shared/operators/operators'
import { openApp } from './app'
import { assemble } from './assemble'
import { fields } from './config'
import { openNews } from './events/news'
import { gatewayMetrics } from './health/gateway-metrics'
import { openProbes } from './health/probes'
import { watchStreams } from './health/streams'
import { dependencyDeadlineMs } from './http/deadline'
import { limits } from './identity/identity'
import { oldestAwaited } from './identity/identity.store'
import { answerVerifiedName } from './identity/name'
import { chooseIdentityProvider } from './identity/providers/choose'
import { answerFlagOrder, answerRule, answerWithdraw } from './identity/rule'
import { runIdentity } from './identity/run'
import { listen } from './listen'
import { openOperatorListener } from './operators/listener'
import { runConsole } from './operators/run'
import { openPush } from './push/push'
import { answerResend } from './push/resend'
import { startReminding } from './reminders/remind'
import { gatewayMessaging as messaging, outbox } from './schema.store'
import { answerErase } from './users/erase'

await runService('gateway', fields, async (config, runtime) => {
  const { log, fatal, signal: leaving } = runtime
  await using bus = await openServiceBus('gateway', config, runtime)
  await using database = openServiceDatabase('gateway', config, runtime)
  await using time = await openDatabaseClock(database, log)
  const { clock } = time
  await using copies = await countInstances(bus, 'gateway', log)
  await using relay = relayOutbox({ bus, database, outbox, log })
  const provider = chooseIdentityProvider(config, clock)
  const health = openProbes(bus, database, log)
  const context = assemble(config, {
    database,
    ask: asker(bus, dependencyDeadlineMs),
    publish: (message) => publish(bus, message),
    news: openNews(bus, database),
    provider,
    copies,
    health,
    leaving,
    log,
    clock,
    poke: relay.poke,
  })
  await using _streams = watchStreams({ bus, log, everyMs: config.streamsEveryMs })
  const read = () => database.read(oldestAwaited)
  await using _overdue = watchOverdue({ log, clock, limits, read })
  await using _identity = runIdentity(context, bus, fatal)
  const description = 'HTTP interface, sign-in, identity and webhooks; answers operators, and payments about a name'
  await using _reminders = startReminding(context)
  await using push = openPush(config, clock, runtime)
  // `ops events list` reads them from here.
  const stats = async () => ({ ...(await health.figures()), refusedEvents: push?.refused() ?? [] })
  const own = { bus, database, messaging, stats, readings: gatewayMetrics, log }
  const listed = {
    ...own,
    name: 'gateway',
    description,
    answers: [
      answerErase(context),
      answerRule(context),
      answerWithdraw(context),
      answerFlagOrder(context),
      answerVerifiedName(context),
      answerResend(push, bus, log),
    ],
    commands: guardCommands({ ...operatorRules(config), clock }),
  } as const
  await using _listed = await serve(listed) // This makes `nats micro ls` list the gateway too.
  const operators = runConsole(context, bus, openOperatorListener(context))
  await using ops = listen(operators, { host: config.opsHost, port: config.opsPort })
  const app = openApp(context)
  await using server = listen(app, { host: config.httpHost, port: config.httpPort, leaving })
  log.info({ port: server.port, opsPort: ops.port }, 'gateway listening')
  await runUntilStopped(config, runtime)
  await pause(config.drainMs) // `/ready` is 503 during this time, so the load balancer stops sending requests.
})
