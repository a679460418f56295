import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import type { Log } from '#platform/log'
import type { Fee } from '#shared/money/fee'
import type { Pair } from '#shared/money/pair'
import type { TopupFees } from '#shared/money/topup-fee'
import type { Guards } from './decide'
import type { RateSource } from './rate'
import type { RateStore } from './rate.store'

/** Parts and settings of the service, with durations in ms. */
export type Context = {
  /** Rate sources in order of trust. */
  readonly sources: readonly RateSource[]
  readonly guards: Guards
  readonly database: Database
  /** Secrets of quotes, of which the first signs and each verifies. */
  readonly quoteSecrets: readonly [string, ...string[]]
  /** Fee of a cash-out, in whole rupiah and basis points of the payout before it. */
  readonly cashoutFee: Fee
  /** Fees of top-ups, in smallest units and basis points of the amount paid; a pair without fees may be omitted. */
  readonly topupFees: ReadonlyMap<Pair, TopupFees>
  readonly rates: RateStore
  readonly pollMs: number
  readonly quoteTtlMs: number
  /** Clock of the database, which decides when quotes expire. */
  readonly clock: Clock
  readonly log: Log
}
