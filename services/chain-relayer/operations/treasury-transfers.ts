import { chunkBlocks, findMoves, movesOf, type PlaceOnChain } from '../chain/authorization'
import type { Context } from '../context'
import { advanceCursor, findCursor } from './cursor.store'
import { type FailedTake, findFailedTakes } from './operation.store'
import { settleLate } from './order'

// Anyone can submit the authorization of a failed take at any time. One query per interval for the
// treasury's `Transfer` events finds them all, however many takes have failed.

/** Blocks that are read twice, because a lagging endpoint returns no logs for blocks that it lacks. */
const againBlocks = 60n

/**
 * Reads the next transfers to the treasury and settles failed takes among them. Returns true if more blocks remain. The
 * first scan starts at the current head, because the watch of each failed take finds older transfers.
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
  // A head far too high would move the cursor, which never goes back, past blocks still to come.
  if (to < head) await node.headAt(to)
  const moves = await findMoves(context, context.treasury.address, { from, to })
  const takes = await database.read((db) =>
    findFailedTakes(
      db,
      moves.map((move) => move.from),
    ),
  )
  const takesOf = Map.groupBy(takes, ({ wallet }) => wallet)
  // A wallet may have many failed takes, and send dust many times.
  for (const [txHash, sent] of Map.groupBy(moves, (move) => move.txHash)) {
    const wallets = new Set(sent.map((move) => move.from))
    const possible = [...wallets].flatMap((wallet) => takesOf.get(wallet) ?? [])
    if (possible.length === 0) continue
    const moved = await movesOf(context, txHash)
    if (moved === 'unknown') throw new Error(`receipt of ${txHash} is not final`)
    for (const take of possible)
      if (moved.has(take.payload.authorization)) await settleMoved(context, take, moved.place)
  }
  await database.run((db) => advanceCursor(db, to + 1n))
  return to < head
}

async function settleMoved(context: Context, take: FailedTake, place: PlaceOnChain): Promise<void> {
  if (!(await context.database.transaction((tx) => settleLate(tx, take, place)))) return
  const fields = { operationId: take.id, cause: take.cause, txHash: place.txHash }
  context.log.warn(fields, 'failed take settled late')
  context.poke()
}
