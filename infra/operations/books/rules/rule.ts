import type { BookSpan } from '../span'

export type BookRule = {
  readonly name: string
  readonly says: string
  /** A younger break may be an item in progress, so it is shown without an alert. */
  readonly graceMs: number
  /**
   * Source that must have been read since the row last changed; until then the rule skips the row,
   * and its breaks stay open.
   */
  readonly after?: 'chain' | 'provider'
  readonly remedy: string
  /** Query for item, asset, amount and about of each break. */
  readonly sql: (span: BookSpan) => string
}

const minuteMs = 60_000
/** Row and journal commit together and are read in one snapshot. */
export const atOnceMs = 0
/** Two runs must find such a break, because one may fall into the middle of a read. */
export const sureMs = 10_000
/**
 * True if the item was returned to its sender in the last 30 minutes: a return is booked at once,
 * its arrival only after the grace for a row.
 */
export const wentBack = (item: string) => `exists (select from moves g
  where g.item = ${item} and g.named = 'giveback' and g.moved_at > now() - interval '30 minutes')`
/** True once the opening balance of an account such as `provider_id` is booked. */
export const accountHasBegun = (place: string) => `exists (select from books.checkpoints c
  where c.source = 'opening:' || upper(substr(${place}, length('provider_') + 1)))`
/** Services learn of final transactions within seconds. */
export const chainGraceMs = 2 * minuteMs
/** The provider's list lags, and the services poll it too. */
export const listGraceMs = 15 * minuteMs
