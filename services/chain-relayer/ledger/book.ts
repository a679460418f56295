import type { SideWrite } from '#platform/db/compiled-query'
import type { Tx } from '#platform/db/open'
import { book, bookWith } from '#shared/ledger/journal.store'
import type { OpenTransaction } from '../lanes/lane.store'
import type { Operation } from '../operations/operation.table'
import { journal } from '../schema.store'
import { type Concluded, eventOf, positionOf, positionOfDone } from './position'

export const bookTransaction = (
  { lane, nonce }: Pick<OpenTransaction, 'lane' | 'nonce'>,
  concluded: Concluded,
  operations: readonly Operation[],
): SideWrite | undefined =>
  bookWith(journal, {
    event: eventOf(
      concluded.outcome,
      operations.map(({ kind }) => kind),
    ),
    item: `${lane}:${nonce}`,
    lines: positionOf(concluded),
  })

export const bookOperation = (tx: Tx, operation: Operation): Promise<void> => {
  const { kind, cause } = operation
  return book(tx, journal, { event: kind, item: cause, lines: positionOfDone(operation) })
}
