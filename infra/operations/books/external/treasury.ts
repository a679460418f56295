import type { Tx } from '#platform/db/open'
import { refOf } from '#shared/chain/ref'
import type { BooksContext } from '../context'
import { bookItems } from './booking'
import { type ChainMove, type LogPlace, movesBehind } from './chain-move.store'
import { findCheckpoint, recordBlock } from './checkpoint.store'
import { withJournal } from './journal.store'
import { transferKey } from './moves'
import { namedAmong, recordNames } from './name.store'
import { itemOf, positionOfMove } from './positions'

const source = 'treasury'
/** Time that a transfer may be without a row before it counts as unexplained, in ms. */
export const graceMs = 600_000
const movesMax = 500

/**
 * Books unexplained transfers up to `toBlock`. The checkpoint stays before the first movement whose row may still
 * appear.
 */
export async function bookTreasury(context: BooksContext, toBlock: bigint): Promise<void> {
  const { database } = context
  const [recorded, chain] = await Promise.all(
    [source, 'chain'].map((one) => database.read((db) => findCheckpoint(db, one))),
  )
  // The clock of a test chain may be ahead of ours.
  const nowMs = Math.max(context.clock(), chain?.readTo.getTime() ?? 0)
  let behind: LogPlace | undefined = { block: recorded?.block ?? -1n, logIndex: maxLogIndex }
  let waits = false
  while (behind) {
    const from: LogPlace = behind
    behind = await withJournal(database, async (tx) => {
      const moves = await movesBehind(tx, from, toBlock, movesMax)
      const waiting = await bookMoves(tx, { place: context.place, nowMs }, moves)
      const last = moves.length === movesMax ? moves.at(-1) : undefined
      const done = (waiting ?? last)?.block
      if (!waits) await recordBlock(tx, source, done ? done - 1n : toBlock, new Date(nowMs))
      waits ||= waiting !== undefined
      return last
    })
  }
}

const maxLogIndex = 2 ** 31 - 1

/**
 * Books the given movements, and returns the first that is not decided yet. Call it within `withJournal`, so that a
 * name stored later finds the postings made here.
 */
export async function bookMoves(
  tx: Tx,
  { place, nowMs }: { readonly place: BooksContext['place']; readonly nowMs: number },
  moves: readonly ChainMove[],
): Promise<ChainMove | undefined> {
  const named = await namedAmong(
    tx,
    moves.flatMap(({ key }) => key ?? []),
  )
  const byItem = new Map(moves.map((move) => [itemOf(move), move]))
  const isRipe = ({ movedAt }: ChainMove) => movedAt.getTime() + graceMs <= nowMs
  await bookItems(tx, [...byItem.keys()], (item, { isAccepted }) => {
    const move = byItem.get(item)!
    const isNamed = move.key !== null && named.has(move.key)
    const known = { isNamed, isAccepted, isRipe: isRipe(move) }
    return positionOfMove(move, place.creditLine, known)
  })
  const unnamed = moves.filter(({ kind, key }) => kind === 'in' && !(key && named.has(key)))
  await recordNames(
    tx,
    unnamed.map((move) => givebackOf(move, place.treasury)),
  )
  return unnamed.find((move) => !isRipe(move))
}

/** Returns the key that a transfer back to the sender would have. */
export function givebackOf(move: ChainMove, treasury: string) {
  const item = itemOf(move)
  const key = transferKey(treasury, refOf(`giveback:${item}`), move.ausdMicro)
  return { key, kind: 'giveback' as const, item }
}
