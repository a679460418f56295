import { asker } from '#shared/bus/ask'
import { consume } from '#shared/bus/consume'
import { relayOutbox } from '#shared/bus/outbox-relay'
import { serve } from '#shared/bus/serve'
import { systemClock as clock } from '#shared/clock'
import { openProviderClient } from '#shared/provider/client'
import { openServiceBus, openServiceDatabase, runService, untilStopped } from '#shared/service'
import { activityAnswer } from './activity.responder.ts'
import { openDetailsSafe } from './bank-details.ts'
import { openBoundaries } from './boundaries.ts'
import { cashoutAnswer } from './cashout.responder.ts'
import { openChannels } from './channels.ts'
import { fields } from './config.ts'
import { xenditPayouts } from './providers/xendit/client.ts'
import { relayReactions } from './relay.reactions.ts'
import { mail, outbox } from './schema.store.ts'
import { readStats } from './stats.store.ts'
import { startSweeping } from './stuck.ts'
import { startListing } from './transactions.ts'
import { webhookReactions } from './webhook.reactions.ts'

const name = 'payouts'
const description = 'cash-outs: what was taken, what the bank was paid, what went back'

await runService(name, fields, async (config, runtime) => {
  const { log, signal, stuck: onStuck } = runtime
  await using database = openServiceDatabase(name, config, runtime)
  await using bus = await openServiceBus(name, config, runtime)
  const { providerUrl: baseUrl, providerIdSecretKey: secretKey, sweepAfterMs } = config
  const requestsPerMinute = config.providerRequestsPerMinute
  const account = { baseUrl, secretKey, account: 'ID', requestsPerMinute, log } as const
  const provider = xenditPayouts(openProviderClient(account))
  const safe = openDetailsSafe(config.bankDetailsKeys)
  const channels = openChannels({ provider, refreshMs: config.channelsRefreshMs, clock, log })
  const boundaries = openBoundaries()

  await using relay = relayOutbox({ bus, database, outbox, log })
  const paying = { database, provider, safe, sweepAfterMs, log, poke: relay.poke }
  await using sweeper = startSweeping(paying, config)
  await using _listing = startListing({ ...paying, clock }, config)
  const poke = () => {
    relay.poke()
    sweeper.poke()
    boundaries.pass()
  }
  const reading = { bus, consumer: name, database, messaging: mail, log, poke, onStuck }
  const hooks = webhookReactions({ provider, sweepAfterMs, log, reached: boundaries.reached })
  await using _webhooks = consume({ ...reading, stream: 'WEBHOOKS', reactions: hooks })
  await using _events = consume({ ...reading, stream: 'EVENTS', reactions: relayReactions(paying) })

  const { treasuryAddress: treasury, bankAccountLengths: accountLengths } = config
  const checks = { ask: asker(bus), channels, safe, treasury, accountLengths }
  const creation = { ...checks, database, sweepAfterMs, clock, log, poke: relay.poke }
  const answers = [cashoutAnswer(creation), activityAnswer(database)]
  const stats = () => readStats(database)
  await using _served = await serve({ bus, name, description, answers, stats, log })
  log.info('payouts ready')
  await untilStopped(signal)
})
