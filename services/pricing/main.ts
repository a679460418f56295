import { serve } from '#platform/bus/serve'
import { openDatabaseClock } from '#platform/db/clock'
import { openServiceBus, openServiceDatabase, runService, runUntilStopped } from '#platform/service'
import { assemble } from './assemble'
import { fields } from './config'
import { lockQuotes } from './lock'
import { metricsOf } from './metrics'
import { openQuoteIssuer } from './quote-issuer'
import { openRateStore } from './rate.store'
import { openRateCache } from './rate-cache'
import { sourcesFrom } from './rate-sources/sources'

const name = 'pricing'
const description = 'locks exchange rates'

await runService(name, fields, async (config, runtime) => {
  const { log } = runtime
  await using bus = await openServiceBus(name, config, runtime)
  await using database = openServiceDatabase(name, config, runtime)
  await using time = await openDatabaseClock(database, log)
  const { clock } = time
  const rates = await openRateStore(bus.js)
  const context = assemble(config, { database, rates, sources: sourcesFrom(config, clock), log, clock })
  await using rateCache = await openRateCache(context)
  const mint = openQuoteIssuer(context)
  const answers = lockQuotes(context, { rateOf: rateCache.rateOf, mint })
  const statistics = { stats: async () => rateCache.figures(), readings: metricsOf }
  await using _served = await serve({ bus, name, description, answers, ...statistics, log })
  log.info({ sources: config.rateSources }, 'pricing ready')
  await runUntilStopped(config, runtime)
})
