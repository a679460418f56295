import { type Position, position } from '#shared/ledger/position'
import type { TransactionOutcome } from '../lanes/lane.store'
import type { OperationKind, Task } from '../operations/operation'

// This service books the native coin of the lanes per transaction, and unsolicited AUSD that is
// returned to its sender. All other AUSD is booked by the service that ordered the transfer.

/** Cost of a final transaction of a lane, in wei. */
export type Concluded = {
  readonly outcome: TransactionOutcome
  /** Gas cost paid by the lane, whatever the outcome. */
  readonly paidWei: bigint
  /** Value the transaction was to send; for a foreign transaction, the value it did send. */
  readonly valueWei: bigint
}

/** Returns the journal lines of a transaction: gas and native coin sent. */
export function positionOf({ outcome, paidWei, valueWei }: Concluded): Position {
  const moved = outcome === 'ok' || outcome === 'foreign' ? valueWei : 0n
  return position([
    { account: 'lanes', asset: 'MON', amount: -paidWei - moved },
    { account: 'gas', asset: 'MON', amount: paidWei },
    // Only drips send value. Value sent by a foreign transaction goes to suspense for review.
    { account: outcome === 'foreign' ? 'suspense' : 'drips', asset: 'MON', amount: moved },
  ])
}

/**
 * Returns the journal lines of a settled operation. Only a giveback has any: it clears the suspense
 * entry made by the books job when the AUSD arrived.
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
  noop: ', replaced by a noop',
  foreign: ', nonce used by another sender',
}

/** Describes a transaction for the journal: kinds of its operations, and the outcome unless ok. */
export function eventOf(outcome: TransactionOutcome, kinds: readonly OperationKind[]): string {
  const counts = [...Map.groupBy(kinds, (kind) => kind)]
  const several = counts.map(([kind, { length }]) => `${length} ${kind}`).join(', ')
  return `${kinds.length === 1 ? kinds[0] : several}${endings[outcome]}`
}
