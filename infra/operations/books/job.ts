import { figuresSubject } from '#infra/nats/rights'
import type { Bus } from '#shared/bus/open'
import { databaseUrlOf } from '#shared/db/url'
import { pause } from '#shared/deadline'
import type { Log } from '#shared/log'
import { answerMetrics } from '#shared/metrics/answer'
import { aliveUntilStopped, openServiceBus, runService } from '#shared/service'
import { fields } from './config'
import { openBooks } from './context'
import { readings } from './readings'
import { type BooksFigures, watchBooks } from './watch'

/** Delay of the first run, which leaves the machine to the services that start at the same time. */
const firstAfterMs = 5_000

/** `bun infra/operations/books/job.ts`: reconciles every minute and alerts on breaks. */
await runService('books', fields, async (config, runtime) => {
  const { log, signal, fatal } = runtime
  const { ausdAddress, creditLineAddress, treasuryAddress } = config
  await using books = openBooks({
    ...{ databaseUrl: databaseUrlOf(config), log, onFatal: fatal },
    place: {
      ...{ rpcUrl: config.rpcUrls[0]!, ausd: ausdAddress, creditLine: creditLineAddress },
      ...{ treasury: treasuryAddress, deployBlock: BigInt(config.deployBlock) },
      ...{ logsRangeMax: BigInt(config.logsRangeMax), gateway: '', sandbox: undefined },
    },
    provider: {
      url: config.providerUrl,
      requestsPerMinute: config.providerRequestsPerMinute,
      keys: { ID: config.providerIdSecretKey, MY: config.providerMySecretKey },
    },
  })
  await pause(firstAfterMs, signal)
  if (signal.aborted) return
  const { booksEveryMs: everyMs, booksWholeEveryMs: wholeEveryMs } = config
  const { loop, figures } = watchBooks(books, { log, everyMs, wholeEveryMs })
  await using _loop = loop
  // Reconciling does not need the bus, which only carries the figures.
  const bus = openServiceBus('books', config, runtime)
  void bus.then((opened) => present(opened, figures, log))
  log.info('reconciliation started')
  runtime.vitals.push({ name: 'postgres', ask: () => books.sql`select 1` })
  await aliveUntilStopped(config, runtime)
  await Promise.race([bus.then((opened) => opened[Symbol.asyncDispose]()), pause(500)])
})

/**
 * Serves the figures for `/metrics` and registers with the NATS services API, like the services.
 */
async function present(bus: Bus, figures: () => BooksFigures, log: Log): Promise<void> {
  answerMetrics(bus, { service: 'books', log, figures: async () => readings(figures()) })
  const service = await bus.nc.services.add({
    name: 'books',
    version: '1.0.0',
    description: 'Reconciles rows, journals, chain and provider',
    metadata: { pid: String(process.pid) },
    statsHandler: () => Promise.resolve(figures()),
  })
  service.addEndpoint('figures', {
    subject: figuresSubject,
    handler: (error, message) => {
      if (!error) message.respond(JSON.stringify(figures()))
    },
  })
}
