import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import type { Log } from '#platform/log'
import type { Guards } from './decide'
import type { RateSource } from './rate'
import type { RateStore } from './rate.store'

/** Durations in ms. */
export type Context = {
  /** In order of trust. */
  readonly sources: readonly RateSource[]
  readonly guards: Guards
  readonly database: Database
  /** The first signs; each verifies. */
  readonly quoteSecrets: readonly [string, ...string[]]
  readonly rates: RateStore
  readonly pollMs: number
  readonly quoteTtlMs: number
  /** The database's, which decides when quotes expire. */
  readonly clock: Clock
  readonly log: Log
}
