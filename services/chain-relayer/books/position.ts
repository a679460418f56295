import { type Position, position } from '#shared/ledger/position'
import type { TransactionOutcome } from '../lanes/lane.store'
import type { Kind } from '../operations/operation'

// The books of this service: native coin of the lanes, transaction by transaction. AUSD that a
// transaction moves is booked by whoever ordered it, with the row it belongs to.

/** A transaction of a lane that is final, in wei. */
export type Concluded = {
  readonly outcome: TransactionOutcome
  /** What the lane paid for it, whatever came of it. */
  readonly paidWei: bigint
  /** What it was to send; of somebody else's what that one sent. */
  readonly valueWei: bigint
}

/** The lines of a transaction: gas, and native coin that it gave away. */
export function positionOf({ outcome, paidWei, valueWei }: Concluded): Position {
  const moved = outcome === 'ok' || outcome === 'foreign' ? valueWei : 0n
  return position([
    { account: 'lanes', asset: 'MON', amount: -paidWei - moved },
    { account: 'gas', asset: 'MON', amount: paidWei },
    // Only a drip sends any. What somebody else sent with our key waits for a person.
    { account: outcome === 'foreign' ? 'suspense' : 'drips', asset: 'MON', amount: moved },
  ])
}

const endings: { readonly [O in TransactionOutcome]: string } = {
  ok: '',
  reverted: ', reverted',
  noop: ', gave way to a noop',
  foreign: ', its nonce taken by somebody else',
}

/** What happened, in words: the kinds of its operations, and how it ended unless it did its work. */
export function eventOf(outcome: TransactionOutcome, kinds: readonly Kind[]): string {
  const counts = [...Map.groupBy(kinds, (kind) => kind)]
  const several = counts.map(([kind, { length }]) => `${length} ${kind}`).join(', ')
  return `${kinds.length === 1 ? kinds[0] : several}${endings[outcome]}`
}
