import type { HandlingContext } from '#platform/bus/handling'
import type { Loop } from '#platform/loop'
import { microOfAll } from '#shared/money/pilot'
import { type Config, closedMicroMaxOf, givenBackMaxOf } from './config'
import type { Context } from './context'
import { startListing } from './incoming/provider-list'
import { startRechecking } from './incoming/recheck'
import { webhookReactions } from './incoming/webhook'
import { relayReactions } from './onchain/relay'
import { messaging } from './schema.store'

/** The parts of the context that reach outside of the process or keep its secrets, and the clock. */
export type Means = Pick<
  Context,
  'database' | 'provider' | 'balance' | 'channels' | 'safe' | 'ask' | 'log' | 'clock' | 'poke'
>

export const assemble = (config: Config, means: Means): Context => ({
  ...means,
  treasury: config.treasuryAddress,
  accountLengths: config.bankAccountLengths,
  dayMicroMax: config.cashoutDayMaxUsd * 1_000_000n,
  allDayMicroMax: microOfAll(config.cashoutAllDayMaxUsd),
  pilot: config.pilotWallets,
  closedMicroMax: closedMicroMaxOf(config),
  givenBackMax: givenBackMaxOf(config),
  accountChecksDayMax: config.accountChecksDayMax,
  recheckAfterMs: config.recheckAfterMs,
  reversalWatchMs: config.reversalWatchMs,
})

/** What the service does with the messages of the streams. `loops` pay what a message has made payable. */
export const messagesOf = (context: Context, loops?: Pick<Loop, 'poke'>): HandlingContext => ({
  consumer: 'payouts',
  database: context.database,
  messaging,
  reactions: [...webhookReactions(context), ...relayReactions(context)],
  log: context.log,
  poke: () => {
    context.poke()
    loops?.poke()
  },
})

/** Starts the loops that move cash-outs without a message. */
export function startLoops(context: Context, config: Config): Loop {
  const loops = new AsyncDisposableStack()
  const { poke } = loops.use(startRechecking(context, config))
  loops.use(startListing(context, config))
  return { poke, [Symbol.asyncDispose]: () => loops.disposeAsync() }
}
