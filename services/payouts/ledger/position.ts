import { type JournalLine, type Position, position } from '#shared/ledger/position'
import { givenFloor } from '#shared/ledger/spread'
import type { Cashout } from '../cashout.table'

/**
 * Returns the position of a row. It depends on the row only, and each change of the row is booked as the
 * difference.
 */
export function positionOf({
  state,
  ausdMicro,
  fiatMinor,
  feeMinor,
  spreadBps,
}: Pick<Cashout, 'state' | 'ausdMicro' | 'fiatMinor' | 'feeMinor' | 'spreadBps'>): Position {
  const worthMinor = fiatMinor + feeMinor
  const givenMinor = givenFloor(worthMinor, spreadBps)
  const taken: JournalLine = { account: 'treasury', asset: 'AUSD', amount: ausdMicro }
  const exchanged: JournalLine[] = [
    taken,
    { account: 'exchange', asset: 'AUSD', amount: -ausdMicro },
    { account: 'exchange', asset: 'IDR', amount: worthMinor - givenMinor },
    { account: 'spread', asset: 'IDR', amount: givenMinor },
    { account: 'fees_earned', asset: 'IDR', amount: -feeMinor },
  ]
  switch (state) {
    case 'opening':
    case 'expired':
    case 'taking':
    case 'failed':
    case 'returned':
      return []
    case 'taken':
    case 'paying':
      return position([...exchanged, { account: 'payouts', asset: 'IDR', amount: -fiatMinor }])
    case 'paid':
      return position([...exchanged, { account: 'provider_id', asset: 'IDR', amount: -fiatMinor }])
    case 'returning':
      return position([taken, { account: 'returns', asset: 'AUSD', amount: -ausdMicro }])
  }
}
