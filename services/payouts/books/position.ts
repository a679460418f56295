import { type Line, type Position, position } from '#shared/ledger/position'
import { givenFloor } from '#shared/ledger/spread'
import type { Cashout } from '../cashout.store'

/**
 * What a cash-out comes to in the books, from its row alone: AUSD that came to the treasury, and
 * rupiah that are owed for it, or were paid. Whatever changes the row is booked as the difference.
 */
export function positionOf({
  state,
  ausdMicro,
  fiatMinor,
  spreadBps,
}: Pick<Cashout, 'state' | 'ausdMicro' | 'fiatMinor' | 'spreadBps'>): Position {
  const givenMinor = givenFloor(fiatMinor, spreadBps)
  const taken: Line = { account: 'treasury', asset: 'AUSD', amount: ausdMicro }
  const exchanged: Line[] = [
    taken,
    { account: 'exchange', asset: 'AUSD', amount: -ausdMicro },
    { account: 'exchange', asset: 'IDR', amount: fiatMinor - givenMinor },
    { account: 'spread', asset: 'IDR', amount: givenMinor },
  ]
  switch (state) {
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
