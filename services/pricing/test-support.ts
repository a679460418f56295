import { type Ask, asker } from '#platform/bus/ask'
import { type Bus, openBus } from '#platform/bus/open'
import { serve } from '#platform/bus/serve'
import { openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { provisionNats, startScratchServer } from '#test/support/scratch-server'
import { defaultsOf } from '#test/support/settings'
import { assemble } from './assemble'
import { fields } from './config'
import type { Context } from './context'
import { lockQuotes } from './lock'
import { openQuoteIssuer } from './quote-issuer'
import { openRateStore } from './rate.store'
import { openRateCache } from './rate-cache'
import { sourcesFrom } from './rate-sources/sources'

const log = openLog('pricing', 'fatal')
/** The sandbox's default sources and spreads are fixed, and no source is polled again. */
const config = { ...defaultsOf('pricing', fields), ratePollMs: 60_000 }

export async function openRows() {
  await using closing = new AsyncDisposableStack()
  const server = closing.use(await startScratchPostgres())
  const url = server.urlAs('pricing', server.passwords.pricing)
  const open = () => openDatabase({ url, name: 'pricing', log, onFatal: () => {}, max: 4 })
  const database = closing.use(open())
  const opened = closing.move()
  return {
    database,
    adminUrl: server.adminUrl,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Starts two instances and their callers. */
export async function openFixture() {
  await using closing = new AsyncDisposableStack()
  /** Time in ms by which the instances' clocks are ahead of the database clock. */
  const time = { aheadMs: 0 }
  const clock = () => Date.now() + time.aheadMs
  const rows = closing.use(await openRows())
  const { url, passwords } = closing.use(await startScratchServer())
  await provisionNats({ url, user: 'admin', password: passwords.admin })
  const open = async (user: keyof typeof passwords, until = closing): Promise<Bus> => {
    const password = passwords[user]
    return until.use(await openBus({ url, user, password, name: user, log, onFatal: () => {} }))
  }
  const openCopy = async (): Promise<Context> => {
    const bus = await open('pricing')
    const rates = await openRateStore(bus.js)
    const context = assemble(config, {
      database: rows.database,
      rates,
      sources: sourcesFrom(config, clock),
      log,
      clock,
    })
    const board = closing.use(await openRateCache(context))
    const mint = openQuoteIssuer(context)
    const answers = lockQuotes(context, { rateOf: board.rateOf, mint })
    const stats = async () => board.figures()
    closing.use(await serve({ bus, name: 'pricing', description: 'rates', answers, stats, log }))
    return context
  }
  const contexts = [await openCopy(), await openCopy()] as const
  const asking = asker(await open('gateway'))
  const taking = asker(await open('payouts'))
  const ask = ((question, ...rest) => (question.askers.includes('gateway') ? asking : taking)(question, ...rest)) as Ask
  const opened = closing.move()
  return {
    time,
    ask,
    rows,
    context: contexts[0],
    open: (user: keyof typeof passwords) => open(user, opened),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
export type Fixture = Awaited<ReturnType<typeof openFixture>>
