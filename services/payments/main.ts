import { asker } from '#shared/bus/ask'
import { consume } from '#shared/bus/consume'
import { relayOutbox } from '#shared/bus/outbox-relay'
import { serve } from '#shared/bus/serve'
import { systemClock as clock } from '#shared/clock'
import { openServiceBus, openServiceDatabase, runService, untilStopped } from '#shared/service'
import { answerActivity } from './activity.responder'
import { fields } from './config'
import { openXendit } from './providers/xendit/client'
import { relayReactions } from './relay.reactions'
import { mail, outbox } from './schema.store'
import { answerSettlements } from './settlement.responder'
import { readStats } from './stats.store'
import { looksPerRound, roundEveryMs, startSweeping } from './stuck'
import { answerTopups } from './topup.responder'
import { startListing } from './transactions'
import { notePaid, webhookReactions } from './webhook.reactions'

const name = 'payments'
const description = 'top-ups and settlements: checkouts, what was paid, what was ordered for it'

await runService(name, fields, async (config, runtime) => {
  const { log, signal, stuck: onStuck } = runtime
  await using database = openServiceDatabase(name, config, runtime)
  await using bus = await openServiceBus(name, config, runtime)
  const { checkoutTtlMs, sweepAfterMs, sweepEveryMs: everyMs, appUrl } = config
  const { providerUrl: baseUrl, providerRequestsPerMinute: requestsPerMinute } = config
  const secretKeys = { ID: config.providerIdSecretKey, MY: config.providerMySecretKey }
  const provider = openXendit({ baseUrl, secretKeys, requestsPerMinute, appUrl, log })
  const { holdMarginMs } = config
  const context = { log, clock, sweepAfterMs, holdMarginMs }
  const ask = asker(bus)

  await using relay = relayOutbox({ bus, database, outbox, log })
  const { poke, onPaid } = notePaid(relay.poke)
  const reading = { bus, consumer: name, database, messaging: mail, log, poke, onStuck }
  const hooks = webhookReactions({ context, provider, database, onPaid })
  await using _webhooks = consume({ ...reading, stream: 'WEBHOOKS', reactions: hooks })
  await using _events = consume({
    ...reading,
    stream: 'EVENTS',
    reactions: relayReactions(context),
  })
  const looksMax = looksPerRound(requestsPerMinute, roundEveryMs(everyMs, holdMarginMs))
  await using _sweeper = startSweeping({
    database,
    provider,
    ask,
    context,
    everyMs,
    looksMax,
    poke,
  })
  await using _listing = startListing({ database, provider, context, poke }, config)

  const creation = { database, provider, context, ask, checkoutTtlMs }
  const activity = answerActivity(database, clock)
  const answers = [answerTopups(creation), answerSettlements(creation), activity]
  const stats = () => readStats(database)
  await using _served = await serve({ bus, name, description, answers, stats, log })
  log.info('service ready')
  await untilStopped(signal)
})
