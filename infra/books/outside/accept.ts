import type { BooksContext } from '../context'
import { settle } from './booking'
import { findMove, movesOfKeys } from './chain-move.store'
import { acceptedEvent, withJournal } from './journal.store'
import { namedAmong } from './name.store'
import { booksOfMove } from './positions'
import { givebackOf } from './treasury'

/** There is nothing to accept, for a reason that a person should read. */
export class NotAcceptable extends Error {
  override name = 'NotAcceptable'
}

/**
 * Counts a transfer that nothing explains as capital, put in or taken out by whoever runs this. `item`
 * is its `<tx hash>:<log index>`, as the breaks name it. The same again changes nothing.
 */
export async function acceptAsCapital(
  { database, place }: Pick<BooksContext, 'database' | 'place'>,
  item: string,
  reason: string,
): Promise<void> {
  const [, txHash, logIndex] = /^(0x[0-9a-f]{64}):([0-9]{1,6})$/.exec(item.toLowerCase()) ?? []
  if (!txHash) throw new NotAcceptable(`${item} is no transfer: expected <tx hash>:<log index>`)
  const because = reason.trim()
  if (because === '') throw new NotAcceptable('say why it is capital')
  await withJournal(database, async (tx) => {
    const move = await findMove(tx, txHash, Number(logIndex))
    if (!move) throw new NotAcceptable(`no transfer ${item} with the treasury was read`)
    const [back] = await movesOfKeys(tx, [givebackOf(move, place.treasury).key])
    if (back) throw new NotAcceptable(`${item} was given back in ${back.txHash}`)
    const isNamed = move.key !== null && (await namedAmong(tx, [move.key])).size > 0
    const known = { isNamed, isAccepted: true, isRipe: true }
    const books = booksOfMove(move, place.creditLine, known)
    if (books?.event !== 'accepted')
      throw new NotAcceptable(`${item} is explained: it is booked as ${books?.event ?? move.kind}`)
    await settle(tx, [`${txHash}:${Number(logIndex)}`], (_, { isAccepted }) =>
      isAccepted ? undefined : { event: `${acceptedEvent}: ${because}`, lines: books.lines },
    )
  })
}
