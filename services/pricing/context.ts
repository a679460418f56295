import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import type { Log } from '#shared/log'
import type { Guards } from './decide'
import type { RateSource } from './rate'
import type { RateStore } from './rate.store'

/** What this service works with; made in main.ts. Durations in ms. */
export type Context = {
  /** In the order of trust. */
  readonly sources: readonly RateSource[]
  readonly guards: Guards
  readonly database: Database
  /** The first proves new quotes, each proves those we know. */
  readonly quoteSecrets: readonly [string, ...string[]]
  readonly rates: RateStore
  readonly pollMs: number
  readonly quoteTtlMs: number
  /** Tells the time of the database, which quotes end by. */
  readonly clock: Clock
  readonly log: Log
}
