import { Misconfigured } from '#platform/config'
import { type CashoutState, unpaidStates } from '../../../services/payouts/cashout'
import type { KnownRows } from './known'
import type { FoundReturns, LostPayout, LostRows } from './world'

export type FoundHolds = { lines: string[]; undecided: string[] }

type Restored = {
  readonly known: Pick<KnownRows, 'cashoutStates'>
  readonly payouts: Pick<LostRows<Pick<LostPayout, 'id' | 'state'>>, 'rows'>
  readonly returned: Pick<FoundReturns, 'returns'>
}

/**
 * Reports what becomes of each cash-out that an operator held since the backup. Throws if an id names none: a hold with a typing
 * error would have no effect, and the cash-out would be paid at once.
 */
export function findHolds(hold: readonly string[], { known, payouts, returned }: Restored): FoundHolds {
  const found: FoundHolds = { lines: [], undecided: [] }
  const states = new Map([
    ...known.cashoutStates,
    ...payouts.rows.map(({ id, state }): [string, CashoutState] => [id, state]),
    ...returned.returns.map((id): [string, CashoutState] => [id, 'returning']),
  ])
  for (const id of hold) {
    const state = states.get(id)
    if (state === undefined) throw new Misconfigured(`--hold ${id}: there is no such cash-out; nothing was changed`)
    if (unpaidStates.has(state)) found.lines.push(`cash-out ${id}: ${state}, will be held`)
    else if (state === 'paying' || state === 'paid')
      found.undecided.push(`cash-out ${id}: ${state}, cannot be held; ask the provider to cancel or recall its payout`)
    else found.lines.push(`cash-out ${id}: ${state}, needs no hold`)
  }
  return found
}
