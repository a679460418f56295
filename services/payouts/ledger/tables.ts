import type { FindPosition } from '#shared/ledger/keeping'
import { lockCashout } from '../cashout.store'
import { positionOf } from './position'

export const positions: readonly FindPosition[] = [
  async (tx, item) => {
    const row = await lockCashout(tx, item)
    return row && positionOf(row)
  },
]
