import { type Position, position } from '#shared/ledger/position'
import type { TransactionOutcome } from '../lanes/lane.store'
import type { OperationKind, Task } from '../operations/operation'

// Books the native coin of the lanes, and unsolicited AUSD given back. The service that ordered a
// transfer books all other AUSD.

export type Concluded = {
  readonly outcome: TransactionOutcome
  /** The lane pays gas whatever the outcome. */
  readonly paidWei: bigint
  /** The value to be sent; for a foreign transaction, the value sent. */
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

/** A giveback clears the entry that the books job made when the AUSD arrived. */
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
