import type { Tx } from '#shared/db/open'
import { book } from '#shared/ledger/journal.store'
import { difference } from '#shared/ledger/position'
import type { Cashout } from '../cashout.store'
import { journal } from '../schema.store'
import { positionOf } from './position'

/** Books what a step of a cash-out means, in the transaction of the step. */
export const bookStep = (tx: Tx, before: Cashout, after: Cashout): Promise<void> =>
  book(tx, journal, {
    event: `${before.state} → ${after.state}`,
    item: after.id,
    lines: difference(positionOf(before), positionOf(after)),
  })
