import type { HandlingContext } from '#platform/bus/handling'
import { microOfAll } from '#shared/money/pilot'
import { shareOf } from '#shared/provider/rate-limit'
import { type Config, topupLimitsFrom } from './config'
import type { Context } from './context'
import { startListing } from './incoming/provider-list'
import { startRechecking } from './incoming/recheck'
import { webhookReactions } from './incoming/webhook'
import { relayReactions } from './onchain/relay'
import { messaging } from './schema.store'

/** The parts of the context that reach outside of the process, and the clock. */
export type Means = Pick<Context, 'database' | 'provider' | 'ask' | 'treasury' | 'log' | 'clock' | 'poke'>

export const assemble = (config: Config, means: Means): Context => ({
  ...means,
  checkoutTtlMs: config.checkoutTtlMs,
  recheckAfterMs: config.recheckAfterMs,
  listedWithinMs: 3 * config.providerListLatestEveryMs,
  holdMarginMs: config.holdMarginMs,
  holdRecheckMs: config.holdRecheckMs,
  topupLimits: topupLimitsFrom(config),
  allDayMicroMax: microOfAll(config.topupAllDayMaxUsd),
  pilot: config.pilotWallets,
  sendsPayerName: config.payerNameSent === 'yes',
})

/** What the service does with the messages of the streams. */
export const messagesOf = (context: Context): HandlingContext => ({
  consumer: 'payments',
  database: context.database,
  messaging,
  reactions: [...webhookReactions(context), ...relayReactions(context)],
  log: context.log,
  poke: context.poke,
})

/** Starts the loops that move payments without a message. `copies` returns the number of running instances. */
export function startLoops(context: Context, config: Config, copies: () => number): AsyncDisposable {
  const loops = new AsyncDisposableStack()
  const requestsPerMinute = () => shareOf(config.providerRequestsPerMinute, copies())
  loops.use(startRechecking(context, { recheckEveryMs: config.recheckEveryMs, requestsPerMinute }))
  loops.use(startListing(context, config))
  return loops
}
