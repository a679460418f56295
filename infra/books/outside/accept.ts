import type { Tx } from '#shared/db/open'
import type { BooksContext } from '../context'
import { bookItems } from './booking'
import { findMove, movesOfKeys } from './chain-move.store'
import { acceptedEvent, withJournal } from './journal.store'
import { namedAmong } from './name.store'
import { booksOfMove, ownMoveOf } from './positions'
import { findProviderMove, isOfAService, type ProviderMove } from './provider-move.store'
import { givebackOf } from './treasury'

/** There is nothing to accept, for a reason that a person should read. */
export class NotAcceptable extends Error {
  override name = 'NotAcceptable'
}

type Accepting = Pick<BooksContext, 'database' | 'place'>

/**
 * Counts money that nothing explains as capital, put in or taken out by whoever runs this: a transfer
 * with the treasury, `<tx hash>:<log index>`, or a row of the provider's list, `txn_…`, as the breaks
 * name them. The same again changes nothing. Throws `NotAcceptable`.
 */
export async function acceptAsCapital(
  context: Accepting,
  item: string,
  reason: string,
): Promise<void> {
  const because = reason.trim()
  if (because === '') throw new NotAcceptable('say why it is capital')
  const event = `${acceptedEvent}: ${because}`
  const [, txHash, logIndex] = /^(0x[0-9a-f]{64}):([0-9]{1,6})$/.exec(item.toLowerCase()) ?? []
  if (txHash) return acceptTransfer(context, txHash, Number(logIndex), event)
  if (/^txn_[A-Za-z0-9_-]{1,200}$/.test(item)) return acceptOwnMove(context, item, event)
  throw new NotAcceptable(
    `${item} is neither a transfer, <tx hash>:<log index>, nor a row of the provider's list, txn_…`,
  )
}

async function acceptTransfer(
  { database, place }: Accepting,
  txHash: string,
  logIndex: number,
  event: string,
): Promise<void> {
  const item = `${txHash}:${logIndex}`
  await withJournal(database, async (tx) => {
    const move = await findMove(tx, txHash, logIndex)
    if (!move) throw new NotAcceptable(`no transfer ${item} with the treasury was read`)
    const [back] = await movesOfKeys(tx, [givebackOf(move, place.treasury).key])
    if (back) throw new NotAcceptable(`${item} was given back in ${back.txHash}`)
    const isNamed = move.key !== null && (await namedAmong(tx, [move.key])).size > 0
    const known = { isNamed, isAccepted: true, isRipe: true }
    const books = booksOfMove(move, place.creditLine, known)
    if (books?.event !== 'accepted')
      throw new NotAcceptable(`${item} is explained: it is booked as ${books?.event ?? move.kind}`)
    await bookItems(tx, [item], (_, { isAccepted }) =>
      isAccepted ? undefined : { event, lines: books.lines },
    )
  })
}

async function acceptOwnMove({ database }: Accepting, item: string, event: string): Promise<void> {
  await withJournal(database, async (tx) => {
    const move = await findProviderMove(tx, item)
    if (!move) throw new NotAcceptable(`no row ${item} of the provider's list was read`)
    if (await isOfAService(tx, move))
      throw new NotAcceptable(`${item} is explained: a service has booked it, or will`)
    const lines = ownMoveOf(move)
    if (!lines?.length)
      throw new NotAcceptable(
        `${item} has moved nothing that could be booked: it is ${move.status}`,
      )
    await bookItems(tx, [item], (_, { isAccepted }) => (isAccepted ? undefined : { event, lines }))
  })
}

/** What was accepted is booked as the list has it now, or taken back when it did not take place. */
export const bookAccepted = (tx: Tx, moves: readonly ProviderMove[]): Promise<void> => {
  const byItem = new Map(moves.map((move) => [move.transactionId, move]))
  return bookItems(tx, [...byItem.keys()], (item, { isAccepted }) => {
    const lines = isAccepted ? ownMoveOf(byItem.get(item)!) : undefined
    return lines && { event: 'as the list has it now', lines }
  })
}
