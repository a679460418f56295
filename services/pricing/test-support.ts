import { type Ask, asker } from '#shared/bus/ask'
import { type Bus, openBus } from '#shared/bus/open'
import { serve } from '#shared/bus/serve'
import { readConfig } from '#shared/config'
import { openLog } from '#shared/log'
import { provisionNats, startScratchServer } from '#test/support/scratch-server'
import { fields, guardsFrom } from './config'
import type { Context } from './context'
import { answerQuotes } from './lock'
import { openQuoteStore } from './quote.store'
import { readQuoteId } from './quote-id'
import { openRateStore } from './rate.store'
import { openRateBoard } from './rate-board'
import { sourcesFrom } from './rate-sources/sources'

const log = openLog('pricing', 'fatal')
const config = readConfig('pricing', fields, {
  ...{ NATS_URL: 'nats://x', NATS_PASSWORD: 'x', PROVIDER_KIND: 'sandbox' },
  QUOTE_SECRETS: 'the secret that the quotes of suites have',
})

/** Two copies of the service on a real nats-server, and its askers. Time is what the suite says. */
export async function openFixture() {
  await using closing = new AsyncDisposableStack()
  const time = { nowMs: Date.now() }
  const clock = () => time.nowMs
  const { url, passwords } = closing.use(await startScratchServer())
  await provisionNats({ url, user: 'admin', password: passwords.admin })
  const open = async (user: keyof typeof passwords, until = closing): Promise<Bus> => {
    const password = passwords[user]
    return until.use(await openBus({ url, user, password, name: user, log, onFatal: () => {} }))
  }
  const buses = [await open('pricing'), await open('pricing')] as const
  const contextOn = async (bus: Bus): Promise<Context> => ({
    sources: sourcesFrom(config, clock),
    guards: guardsFrom(config),
    quotes: await openQuoteStore(bus.js, (id) => readQuoteId(config.quoteSecrets, id)),
    quoteSecrets: config.quoteSecrets,
    rates: await openRateStore(bus.js),
    ...{ pollMs: 60_000, quoteTtlMs: 60_000, clock, log },
  })
  const contexts = [await contextOn(buses[0]), await contextOn(buses[1])] as const
  const board = closing.use(await openRateBoard(contexts[0]))
  for (const [copy, bus] of buses.entries()) {
    const answers = answerQuotes(contexts[copy]!, board.rateOf)
    const stats = async () => board.figures()
    closing.use(await serve({ bus, name: 'pricing', description: 'rates', answers, stats, log }))
  }
  const asking = asker(await open('gateway'))
  const taking = asker(await open('payouts'))
  const ask = ((question, ...rest) =>
    (question.askers.includes('gateway') ? asking : taking)(question, ...rest)) as Ask
  const opened = closing.move()
  return {
    time,
    /** A connection of another user, until the fixture ends. */
    open: (user: keyof typeof passwords) => open(user, opened),
    ask,
    context: contexts[0],
    quoteStores: contexts.map(({ quotes }) => quotes),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
export type Fixture = Awaited<ReturnType<typeof openFixture>>
