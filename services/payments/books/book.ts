import type { Tx } from '#shared/db/open'
import { book } from '#shared/ledger/journal.store'
import { difference } from '#shared/ledger/position'
import type { PaymentRow } from '../payment.store'
import { journal } from '../schema.store'
import { positionOf } from './position'

/**
 * Books what a change of a payment's row means, in the transaction of the change. Whoever changes
 * money facts of a row calls it: a step of the lifecycle, or a fact that moves no state.
 */
export const bookChange = (
  tx: Tx,
  before: PaymentRow,
  after: PaymentRow,
  event = `${before.state} → ${after.state}`,
): Promise<void> =>
  book(tx, journal, {
    event,
    item: after.id,
    lines: difference(positionOf(before), positionOf(after)),
  })
