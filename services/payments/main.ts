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
import { fields, microPerUsd, treasuryReadingMaxMs } from './config'
import { positions } from './ledger/tables'
import { limits } from './payment'
import { openXendit } from './providers/xendit/client'
import { oldestPayments } from './queries/activity.store'
import { metricsOf } from './queries/metrics'
import { approvals, inbox, journal, outbox } from './schema.store'
import { openTreasury, watchTreasury } from './treasury/treasury'

const name = 'payments'
const description = 'top-ups and settlements: checkouts, payments received, orders to the chain'
/** Clients by provider kind. The sandbox implements the real wire format, so it uses the same client. */

await runService(name, fields, async (config, runtime) => {
  const { log, fatal: onFatal } = runtime
  await using database = openServiceDatabase(name, config, runtime)
  await using time = await openDatabaseClock(database, log)
  const { clock } = time
  await using _books = startKeeping({ database, journal, inbox, log, positions })
  await using bus = await openServiceBus(name, config, runtime)
  await using copies = await countInstances(bus, name, log)
  await using relay = relayOutbox({ bus, database, outbox, log })
  const provider = openXendit({
    baseUrl: config.providerUrl,
    secretKeys: { ID: config.providerIdSecretKey, MY: config.providerMySecretKey },
    requestsPerMinute: config.providerRequestsPerMinute,
    copies: copies.count,
    appUrl: config.appUrl,
    log,
    clock,
  })
  const ask = asker(bus)
  const reading = { database, ask, clock, log, readingMaxMs: treasuryReadingMaxMs }
  const treasury = openTreasury(reading)
  const context = assemble(config, { database, provider, ask, treasury, log, clock, poke: relay.poke })
  const messages = { ...messagesOf(context), bus, onFatal }
  await using _messages = consume(messages)
  await using _loops = startLoops(context, config, copies.count)
  const read = () => database.read(oldestPayments)
  const lowMicro = config.treasuryLowAusd * microPerUsd
  await using _treasury = watchTreasury({ ...reading, treasury, lowMicro })
  await using _overdue = watchOverdue({ log, clock, limits, read })
  const answers = answersOf(context)
  const figures = metricsOf(context, lowMicro)
  const commands = guardCommands({ ...operatorRules(config), approvals: { database, table: approvals }, clock })
  await using _served = await serve({ ...messages, name, description, answers, commands, ...figures })
  log.info('service ready')
  await runUntilStopped(config, runtime)
})
