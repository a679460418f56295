import { serve } from '#shared/bus/serve'
import { systemClock as clock } from '#shared/clock'
import { aliveUntilStopped, openServiceBus, runService } from '#shared/service'
import { fields, guardsFrom } from './config'
import type { Context } from './context'
import { answerQuotes } from './lock'
import { openQuoteStore } from './quote.store'
import { readQuoteId } from './quote-id'
import { openRateStore } from './rate.store'
import { openRateBoard } from './rate-board'
import { sourcesFrom } from './rate-sources/sources'

const name = 'pricing'
const description = 'locks exchange rates'

await runService(name, fields, async (config, runtime) => {
  const { log } = runtime
  await using bus = await openServiceBus(name, config, runtime)
  const context: Context = {
    sources: sourcesFrom(config, clock),
    guards: guardsFrom(config),
    quotes: await openQuoteStore(bus.js, (id) => readQuoteId(config.quoteSecrets, id)),
    quoteSecrets: config.quoteSecrets,
    rates: await openRateStore(bus.js),
    pollMs: config.ratePollMs,
    quoteTtlMs: config.quoteTtlMs,
    clock,
    log,
  }
  await using board = await openRateBoard(context)
  const answers = answerQuotes(context, board.rateOf)
  const stats = async () => board.figures()
  await using _served = await serve({ bus, name, description, answers, stats, log })
  log.info({ sources: config.rateSources }, 'pricing ready')
  await aliveUntilStopped(config, runtime)
})
