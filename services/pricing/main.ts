import { serve } from '#shared/bus/serve'
import { systemClock } from '#shared/clock'
import { openServiceBus, runService, untilStopped } from '#shared/service'
import { fields } from './config.ts'
import { quoteAnswers } from './quote.responder.ts'
import { openQuoteStore } from './quote.store.ts'
import { openRateStore } from './rate.store.ts'
import { openRateBoard } from './rate-board.ts'
import { guardsFrom, sourcesFrom } from './wiring.ts'

await runService('pricing', fields, async (config, runtime) => {
  const { log } = runtime
  const clock = systemClock
  await using bus = await openServiceBus('pricing', config, runtime)
  await using board = await openRateBoard({
    sources: sourcesFrom(config, clock),
    guards: guardsFrom(config),
    store: await openRateStore(bus.js),
    pollMs: config.ratePollMs,
    clock,
    log,
  })
  const store = await openQuoteStore(bus.js)
  await using _service = await serve({
    bus,
    name: 'pricing',
    description: 'locks exchange rates',
    answers: quoteAnswers({ store, rateOf: board.rateOf, ttlMs: config.quoteTtlMs, clock, log }),
    stats: async () => board.figures(),
    log,
  })
  log.info({ sources: config.rateSources }, 'pricing ready')
  await untilStopped(runtime.signal)
})
