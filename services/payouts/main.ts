import { asker } from '#platform/bus/ask'
import { consume } from '#platform/bus/consume'
import { countInstances } from '#platform/bus/instances'
import { relayOutbox } from '#platform/bus/outbox-relay'
import { serve } from '#platform/bus/serve'
import { openDatabaseClock } from '#platform/db/clock'
import { watchOverdue } from '#platform/metrics/state-limits'
import { openServiceBus, openServiceDatabase, runService, runUntilStopped } from '#platform/service'
import { startKeeping } from '#shared/ledger/keeping'
import { guardCommands } from '#shared/operators/guard'
import { operatorRules } from '#shared/operators/operators'
import { answersOf } from './answers'
import { assemble, messagesOf, startLoops } from './assemble'
import { limits } from './cashout'
import { balanceReadingMaxMs, channelsRefreshMs, fields, payoutApisOf } from './config'
import { positions } from './ledger/tables'
import { unsealWith } from './person/unseal'
import { openSandboxPayouts } from './providers/sandbox/client'
import { openXendit } from './providers/xendit/client'
import { oldestCashouts } from './queries/activity.store'
import { metricsOf } from './queries/metrics'
import { openChannels, openDetailsSafe } from './request/bank'
import { approvals, inbox, journal, outbox } from './schema.store'
import { openBalance, watchBalance } from './treasury/balance'

const name = 'payouts'
const description = 'cash-outs: AUSD taken, bank transfers, AUSD returned'
/** Clients by provider kind. The sandbox implements the real wire format. */
await runService(name, fields, async (config, runtime) => {
  const { log, fatal: onFatal } = runtime
  await using database = openServiceDatabase(name, config, runtime)
  await using time = await openDatabaseClock(database, log)
  const { clock } = time
  await using _books = startKeeping({ database, journal, inbox, log, positions })
  await using bus = await openServiceBus(name, config, runtime)
  await using copies = await countInstances(bus, name, log)
  await using relay = relayOutbox({ bus, database, outbox, log })
  const openProvider = config.deployment === 'local' ? openSandboxPayouts : openXendit
  const provider = openProvider({
    baseUrl: config.providerUrl,
    secretKey: config.providerIdSecretKey,
    requestsPerMinute: config.providerRequestsPerMinute,
    copies: copies.count,
    apis: payoutApisOf(config.providerPayoutsApi),
    log,
    clock,
  })
  const reading = { database, provider, clock, log, readingMaxMs: balanceReadingMaxMs }
  const balance = openBalance(reading)
  const context = assemble(config, {
    database,
    provider,
    balance,
    channels: openChannels({ provider, refreshMs: channelsRefreshMs, clock, log }),
    safe: openDetailsSafe(config.bankDetailsKeys),
    ask: asker(bus),
    log,
    clock,
    poke: relay.poke,
  })
  await using loops = startLoops(context, config)
  await using _balance = watchBalance({ ...reading, balance }, config)
  const read = () => database.read(oldestCashouts)
  await using _overdue = watchOverdue({ log, clock, limits, read })
  const messages = { ...messagesOf(context, loops), bus, onFatal }
  await using _messages = consume(messages)
  const answers = answersOf(context)
  const figures = { ...metricsOf(context, config), unseal: unsealWith(context) }
  const commands = guardCommands({ ...operatorRules(config), approvals: { database, table: approvals }, clock })
  await using _served = await serve({ ...messages, name, description, answers, commands, ...figures })
  log.info('service ready')
  await runUntilStopped(config, runtime)
})
