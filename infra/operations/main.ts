import { serve } from '#platform/bus/serve'
import { databaseUrlOf, urlInRole } from '#platform/db/url'
import { pause } from '#platform/deadline'
import { startLoop } from '#platform/loop'
import { openServiceBus, runService, runUntilStopped } from '#platform/service'
import { openCommandLog } from './audit-log/command-log'
import { booksVital, openBooks } from './books/context'
import { booksMetrics } from './books/metrics'
import { openReconciliation } from './books/reconciliation'
import { openSealing } from './books/sealing'
import { fields } from './config'
import { openConsole } from './console/console'
import { heartbeatEveryMs, heartbeatMetrics, openHeartbeats } from './health/heartbeat'
import { openPruner } from './pruning/round'

/** Delay of the first work, which leaves the machine to the services that start at the same time. */
const firstAfterMs = 5_000
/** Time for the last answers during a shutdown, in ms. */
const endMs = 3_500

/** Interval of seals in ms. A posting can be changed unnoticed until it is sealed. */
const sealEveryMs = 600_000

/** Interval in ms in which the outcomes of operators' commands are logged. */
const commandsEveryMs = 10_000

/** Interval of full reconciliations, in ms. */
const wholeEveryMs = 86_400_000

await runService('operations', fields, async (config, runtime) => {
  const { log, signal, fatal, vitals } = runtime
  const { ausdAddress, creditLineAddress, treasuryAddress, consoleToken: token } = config
  const databaseUrl = databaseUrlOf(config)
  const place = {
    rpcUrls: config.rpcUrls,
    ausd: ausdAddress,
    creditLine: creditLineAddress,
    treasury: treasuryAddress,
    deployBlock: BigInt(config.deployBlock),
    logsRangeMax: BigInt(config.logsRangeMax),
    provider: {
      url: config.providerUrl,
      requestsPerMinute: config.providerRequestsPerMinute,
      keys: { ID: config.providerIdSecretKey, MY: config.providerMySecretKey },
    },
  }
  const booksUrl = urlInRole(databaseUrl, 'books')
  await using books = await openBooks({ databaseUrl: booksUrl, place, log, onFatal: fatal })
  vitals.push(booksVital(books))
  const { bankDetailsKeptDays: bankDetailsDays } = config
  const { reconcileOnce, figures } = openReconciliation(books, { log, wholeEveryMs })
  await using pruner = openPruner(urlInRole(databaseUrl, 'pruning'), log, { bankDetailsDays })

  const ended = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  /** Answers the console's questions. The loops do not need NATS, so they do not wait for it. */
  const answer = async () => {
    await using bus = await openServiceBus('operations', config, runtime)
    const { treasuryLowAusd, balanceLowIdr: lowMinor, laneMinBalanceWei, laneRefillWei } = config
    await using console = openConsole({
      bus,
      place,
      token,
      clock: books.clock,
      log,
      listener: { url: config.natsUrl, password: config.natsPasswordConsole },
      databaseUrl: urlInRole(databaseUrl, 'auditor'),
      floors: {
        lowMicro: treasuryLowAusd * 1_000_000n,
        lowMinor,
        laneWei: laneMinBalanceWei + laneRefillWei,
        copies: 1,
      },
    })
    const heartbeats = openHeartbeats({ bus, database: books.database, log })
    const served = async () => ({ ...figures(), heartbeats: heartbeats.figures() })
    await using _beating = startLoop({ name: 'heartbeats', everyMs: heartbeatEveryMs, log, work: heartbeats.beat })
    await using _served = await serve({
      bus,
      name: 'operations',
      log,
      readings: (of) => [...booksMetrics(of), ...heartbeatMetrics(of.heartbeats)],
      stats: served,
      description: 'reconciles the books, removes old rows; answers only operators',
      answers: [...console.answers, heartbeats.answer],
    })
    await ended
  }
  const answered = answer().catch((error) => {
    log.fatal({ err: error }, 'operators cannot be answered')
    fatal()
  })
  await pause(firstAfterMs, signal)
  if (!signal.aborted) {
    const { booksEveryMs, pruneEveryMs } = config
    await using _books = startLoop({
      name: 'books',
      everyMs: booksEveryMs,
      log,
      work: reconcileOnce,
    })
    await using _sealing = startLoop({
      name: 'seals',
      everyMs: sealEveryMs,
      log,
      work: openSealing(books.sql, log),
    })
    await using _commands = startLoop({
      name: 'command log',
      everyMs: commandsEveryMs,
      log,
      work: openCommandLog(books.sql, log),
    })
    await using _pruning = startLoop({
      name: 'pruning',
      everyMs: pruneEveryMs,
      log,
      work: pruner.prune,
    })
    log.info('operations started')
    await runUntilStopped(config, runtime)
  }
  // Without NATS the connection may still be opening, so the wait is limited.
  await Promise.race([answered, pause(endMs)])
})
