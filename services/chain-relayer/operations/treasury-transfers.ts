import { chunkBlocks, findMoves, type PossibleMove, placeOfMove } from '../chain/authorization'
import type { Context } from '../context'
import { advanceCursor, findCursor } from './cursor.store'
import { findFailedTakes, type Watched } from './operation.store'
import { settleLate } from './order'

// Anyone can submit the signed authorization of a failed take at any time. One query per interval
// for the treasury's `Transfer` events finds every late transfer, however many takes have failed.

/** Reads these blocks twice: a lagging endpoint returns no logs for blocks it does not have. */
const againBlocks = 60n

/**
 * Returns true if more blocks remain. Starts at the current head: the watch of a take's row found
 * older transfers.
 */
export async function followTransfers(context: Context): Promise<boolean> {
  const { database, node } = context
  const { number: head } = await node.finalizedHead()
  const next = await database.read(findCursor)
  if (next === undefined) {
    await database.run((db) => advanceCursor(db, head))
    return false
  }
  if (next > head) return false
  const from = next > againBlocks ? next - againBlocks : 0n
  const to = from + chunkBlocks - 1n < head ? from + chunkBlocks - 1n : head
  const moves = await findMoves(context, context.treasury.address, { from, to })
  const takes = await database.read((db) =>
    findFailedTakes(
      db,
      moves.map((move) => move.from),
    ),
  )
  for (const take of takes)
    for (const move of moves)
      if (move.from === take.wallet) await settleIfMoved(context, take, move)
  await database.run((db) => advanceCursor(db, to + 1n))
  return to < head
}

async function settleIfMoved(
  context: Context,
  take: Watched,
  { txHash }: PossibleMove,
): Promise<void> {
  const { authorization } = take.payload
  const place = await placeOfMove(context, authorization, txHash)
  if (place === 'unknown') throw new Error(`receipt of ${txHash} is not final`)
  if (!place) return
  if (!(await context.database.transaction((tx) => settleLate(tx, take, place)))) return
  const fields = { operationId: take.id, cause: take.cause, txHash }
  context.log.warn(fields, 'failed take settled late')
  context.poke()
}
