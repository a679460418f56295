import type { Span } from '../span'

/** One thing that must be true of the books, and the query that finds where it is not. */
export type Rule = {
  readonly name: string
  readonly says: string
  /** Which of the ten invariants of the books it is. */
  readonly invariant: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10
  /** A difference that is younger may only be on its way: it is shown, and calls nobody. */
  readonly graceMs: number
  /**
   * Not judged of a row that moved on after this was last read, as it cannot show yet: what was found
   * of it before stays until it can.
   */
  readonly after?: 'chain' | 'provider'
  /** What a person does about a break of it, in a few words; the runbook has the rest. */
  readonly remedy: string
  /** Answers item, asset, amount and about; nothing when all agrees. */
  readonly sql: (span: Span) => string
}

const minuteMs = 60_000
/** Row and journal commit together and are read together: nothing of them is ever on its way. */
export const atOnceMs = 0
/** What is found twice, and not while it was being read. */
export const sureMs = 10_000
/**
 * What came unasked and went back within minutes: its return is booked at once, its coming only when
 * its row has had the time to come.
 */
export const wentBack = (item: string) => `exists (select from moves g
  where g.item = ${item} and g.named = 'giveback' and g.moved_at > now() - interval '30 minutes')`
/** What an account at the provider, `provider_id` say, held when the books began is booked: it may be 0. */
export const accountHasBegun = (place: string) => `exists (select from books.checkpoints c
  where c.source = 'opening:' || upper(substr(${place}, length('provider_') + 1)))`
/** What is final on the chain is told to its service within seconds. */
export const chainGraceMs = 2 * minuteMs
/** The provider's list lags behind, and the services read it again and again themselves. */
export const listGraceMs = 15 * minuteMs
