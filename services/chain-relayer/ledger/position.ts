import { type Position, position } from '#shared/ledger/position'
import type { TransactionOutcome } from '../lanes/lane.store'
import type { OperationKind, Task } from '../operations/operation'

// The relayer books the native coin of the lanes and the return of unsolicited AUSD. All other AUSD is booked by the
// service that ordered its transfer.

export type Concluded = {
  readonly outcome: TransactionOutcome
  /** Gas cost, which the lane pays whatever the outcome. */
  readonly paidWei: bigint
  /** Value of the transaction or, for a foreign one, the value that it sent. */
  readonly valueWei: bigint
}

export function positionOf({ outcome, paidWei, valueWei }: Concluded): Position {
  const moved = outcome === 'ok' || outcome === 'foreign' ? valueWei : 0n
  return position([
    { account: 'lanes', asset: 'MON', amount: -paidWei - moved },
    { account: 'gas', asset: 'MON', amount: paidWei },
    // A foreign transaction goes to suspense for review.
    { account: outcome === 'foreign' ? 'suspense' : 'drips', asset: 'MON', amount: moved },
  ])
}

/**
 * Returns the entry of a finished operation. A giveback clears the entry that the books job made when the AUSD arrived.
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

export function eventOf(outcome: TransactionOutcome, kinds: readonly OperationKind[]): string {
  const counts = [...Map.groupBy(kinds, (kind) => kind)]
  const several = counts.map(([kind, { length }]) => `${length} ${kind}`).join(', ')
  return `${kinds.length === 1 ? kinds[0] : several}${endings[outcome]}`
}
