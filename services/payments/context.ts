import type { Clock } from '#shared/clock'
import type { Log } from '#shared/log'

/** What every change of a payment needs besides the transaction. Durations in ms. */
export type Context = {
  readonly log: Log
  readonly clock: Clock
  readonly sweepAfterMs: number
  /** How long before a hold ends its refunds are asked for once more, or the hold is extended. */
  readonly holdMarginMs: number
}
