import type { BookSpan } from '../span'

/** Item of a break, for a command. */
export type BreakItem = {
  /** What the item is, if its form shows it. */
  readonly form: 'transfer' | 'payment' | 'cashout' | 'message' | undefined
  /** The item as one word of a shell. */
  readonly word: string
  readonly amount: bigint
  readonly about: string
}

export type BookRule = {
  readonly name: string
  readonly says: string
  /**
   * Age from which a break alerts, in ms. A younger break may be an item in progress, so it is shown without an alert.
   */
  readonly graceMs: number
  /**
   * Source that must have been read since the row last changed. Until then the rule skips the row, and its breaks stay
   * open.
   */
  readonly after?: 'chain' | 'provider'
  readonly remedy: string
  /**
   * Returns the operators' command for a break. Undefined for the usual one: to trace the item or, if it has no form, to
   * explain the break.
   */
  readonly command?: (item: BreakItem) => string | undefined
  /** Returns the query for item, asset, amount and about of each break. */
  readonly sql: (span: BookSpan) => string
}

/** End of the description of a break whose transfer is on its way back to its sender. */
export const returnInProgress = ', its return is in progress'

/** Returns the command that sends a transfer to the treasury back to its sender, unless that is in progress. */
export const returnOf = ({ word, about }: Pick<BreakItem, 'word' | 'about'>): string | undefined =>
  about.endsWith(returnInProgress) ? undefined : `unexplained return ${word} --reason <why>`

/** Returns SQL for `returnInProgress`, or an empty text if no return of the item is asked for or ordered. */
export const returningOf = (item: string) => `case when exists (select from chain_relayer.operation o
    where o.kind = 'giveback' and o.cause = ${item} and o.state in ('waiting', 'assigned'))
  or exists (select from chain_relayer.giveback_request r
    where r.state = 'asked' and r.tx_hash || ':' || r.log_index = ${item})
  then '${returnInProgress}' else '' end`

const minuteMs = 60_000
/** Grace of a rule that compares a row with its journal: both commit together and are read in one snapshot. */
export const atOnceMs = 0
/** Grace of a break that a single run could find by reading in the middle of a change. Two runs must find it. */
export const sureMs = 10_000
/**
 * Returns the condition that an item was returned to its sender in the last 30 minutes. A return is booked at once, but
 * the deposit only after the grace for a row.
 */
export const wentBack = (item: string) => `exists (select from moves g
  where g.item = ${item} and g.named = 'giveback' and g.moved_at > now() - interval '30 minutes')`
/** Returns the condition that the opening balance of an account such as `provider_id` is booked. */
export const accountHasBegun = (place: string) => `exists (select from books.checkpoints c
  where c.source = 'opening:' || upper(substr(${place}, length('provider_') + 1)))`
/** Grace of a rule that waits for the chain, in ms. Services learn of final transactions within seconds. */
export const chainGraceMs = 2 * minuteMs
/** Grace of a rule that waits for the provider's list, in ms. The list lags, and the services poll it too. */
export const listGraceMs = 15 * minuteMs
