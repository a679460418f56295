import { type Config, guardsFrom } from './config'
import type { Context } from './context'

/** The parts of the context that reach outside of the process, and the clock. */
export type Means = Pick<Context, 'database' | 'rates' | 'sources' | 'log' | 'clock'>

export const assemble = (config: Config, means: Means): Context => ({
  ...means,
  guards: guardsFrom(config),
  quoteSecrets: config.quoteSecrets,
  cashoutFee: config.cashoutFee,
  topupFees: config.topupFees,
  pollMs: config.ratePollMs,
  quoteTtlMs: config.quoteTtlMs,
})
