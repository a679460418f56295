import { ageMs } from '#platform/clock'
import type { Tx } from '#platform/db/open'
import type { BooksContext } from '../context'
import { listGraceMs } from '../rules/rule'
import { bookItems } from './booking'
import { findMove, movesOfKeys } from './chain-move.store'
import { acceptedEvent, bookedOn, withJournal } from './journal.store'
import { namedAmong } from './name.store'
import { ownMoveOf, positionOfMove } from './positions'
import { findHeld, findProviderMove, isOfAService, type ProviderMove } from './provider-move.store'
import { givebackOf } from './treasury'

/** Thrown for an item that cannot be accepted as capital. The message is for the operator. */
export class NotAcceptable extends Error {
  override name = 'NotAcceptable'
}

type Accepting = Pick<BooksContext, 'database' | 'place' | 'clock'>

/**
 * Books unexplained money as capital. `item` is a treasury transfer (`<tx hash>:<log index>`) or a row of the
 * provider's list (`txn_…`). Repeating the call changes nothing.
 */
export async function acceptAsCapital(context: Accepting, item: string, reason: string): Promise<void> {
  const because = reason.trim()
  if (because === '') throw new NotAcceptable('a reason is required')
  const event = `${acceptedEvent}: ${because}`
  const [, txHash, logIndex] = /^(0x[0-9a-f]{64}):([0-9]{1,6})$/.exec(item.toLowerCase()) ?? []
  if (txHash) return acceptTransfer(context, txHash, Number(logIndex), event)
  if (/^txn_[A-Za-z0-9_-]{1,200}$/.test(item)) return acceptOwnMove(context, item, event)
  throw new NotAcceptable(`${item} is neither a transfer (<tx hash>:<log index>) nor a provider transaction (txn_…)`)
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
    if (!move) throw new NotAcceptable(`no treasury transfer ${item} has been read`)
    const [back] = await movesOfKeys(tx, [givebackOf(move, place.treasury).key])
    if (back) throw new NotAcceptable(`${item} was returned in ${back.txHash}`)
    const isNamed = move.key !== null && (await namedAmong(tx, [move.key])).size > 0
    const known = { isNamed, isAccepted: true, isRipe: true }
    const books = positionOfMove(move, place.creditLine, known)
    if (books?.event !== 'accepted')
      throw new NotAcceptable(`${item} is already accounted for (${books?.event ?? move.kind})`)
    await bookItems(tx, [item], (_, { isAccepted }) => (isAccepted ? undefined : { event, lines: books.lines }))
  })
}

async function acceptOwnMove({ database, clock }: Accepting, transactionId: string, event: string): Promise<void> {
  await withJournal(database, async (tx) => {
    const move = await findProviderMove(tx, transactionId)
    if (!move) throw new NotAcceptable(`no provider transaction ${transactionId} has been read`)
    const [held] = await findHeld(tx, [move])
    // Money in suspense has no owner, even if its row names one: the row of a second payout names its cash-out.
    if (!held && (await isOfAService(tx, move)))
      throw new NotAcceptable(`${transactionId} belongs to a payment or cash-out, whose service books it`)
    const lines = ownMoveOf(move, held?.minor)
    if (!lines?.length)
      throw new NotAcceptable(`${transactionId} moved no money that can be booked: its status is ${move.status}`)
    // A service would book the money again, and the acceptance would count it twice.
    if (!held && move.type !== 'unknown' && ageMs(move.readAt, clock()) < listGraceMs)
      throw new NotAcceptable(`${transactionId} is new: its service has not booked it yet, try again in 15 minutes`)
    // The item is that of the posting in suspense, so that both together are 0.
    const item = held?.item ?? transactionId
    await bookItems(tx, [item], (_, { isAccepted }) => (isAccepted ? undefined : { event, lines }))
  })
}

/**
 * Takes the acceptance of an item back: its postings are reversed, and it is booked as if it had never been accepted. AUSD
 * that came in is then in suspense, also if it was accepted before it was there. Throws if no acceptance stands.
 */
export async function reopenAccepted({ database, place }: Accepting, given: string, reason: string): Promise<void> {
  const because = reason.trim()
  if (because === '') throw new NotAcceptable('a reason is required')
  const named = given.startsWith('0x') ? given.toLowerCase() : given
  await withJournal(database, async (tx) => {
    const items = [named, (await findProviderMove(tx, named))?.productId ?? named]
    const booked = await bookedOn(tx, items)
    const item = items.find((one) => booked.get(one)?.isAccepted)
    if (item === undefined) throw new NotAcceptable(`${given} is not accepted as capital, or no longer`)
    await bookItems(tx, [item], () => ({ event: `reopened: ${because}`, lines: [] }))
    const [txHash = '', logIndex] = item.split(':')
    const move = logIndex === undefined ? undefined : await findMove(tx, txHash, Number(logIndex))
    if (!move) return
    const isNamed = move.key !== null && (await namedAmong(tx, [move.key])).size > 0
    const known = { isNamed, isAccepted: false, isRipe: true }
    await bookItems(tx, [item], () => positionOfMove(move, place.creditLine, known))
  })
}

/**
 * Updates the postings of accepted items to the list's current amounts, and reverses those of movements that did not
 * take place.
 */
export async function bookAccepted(tx: Tx, moves: readonly ProviderMove[]): Promise<void> {
  const byItem = new Map(
    moves.flatMap((move) =>
      [move.productId, move.transactionId].filter((id) => id !== null).map((id) => [id, move] as const),
    ),
  )
  const heldNow = new Map((await findHeld(tx, moves)).map(({ item, minor }) => [item, minor]))
  await bookItems(tx, [...byItem.keys()], (item, { isAccepted, lines: booked }) => {
    const heldBefore = booked.find(({ account }) => account === 'suspense')?.amount
    const heldMinor = heldBefore === undefined ? undefined : (heldNow.get(item) ?? heldBefore)
    const lines = isAccepted ? ownMoveOf(byItem.get(item)!, heldMinor) : undefined
    return lines && { event: 'as the list has it now', lines }
  })
}
