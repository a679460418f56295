import { type Position, position } from '#shared/ledger/position'
import type { TransactionOutcome } from '../lanes/lane.store'
import type { Kind, Task } from '../operations/operation'

// The books of this service: native coin of the lanes, transaction by transaction, and AUSD that is
// given back to whoever sent it unasked. All other AUSD is booked by whoever ordered that it moves,
// with the row it belongs to.

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

/**
 * The lines of an operation that was done. What came to the treasury unasked is in suspense, as the
 * job of the books found it there.
 */
export function positionOfDone({ kind, payload }: Task): Position {
  if (kind !== 'giveback') return []
  const ausdMicro = BigInt(payload.ausd)
  return position([
    { account: 'suspense', asset: 'AUSD', amount: ausdMicro },
    { account: 'treasury', asset: 'AUSD', amount: -ausdMicro },
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
