import { conclude } from './conclude'
import type { Head, Node, Receipt } from './node'
import { inParallel } from './parallel'
import { complain, type HeldLane, type Relayer } from './relayer'
import type { Attempt, OpenTransaction } from './transaction.store'

const askAtOnce = 8
/** Below the finalized count for so long without a receipt: a person has to look. */
const missingMs = 60_000

/** Finds out, for all lanes at once, which transactions are final. Unknown stays unknown. */
export async function readReceipts(relayer: Relayer, held: readonly HeldLane[]): Promise<void> {
  const busy = held.filter(({ open }) => open.length > 0)
  if (busy.length === 0) return
  const head = await relayer.node.finalizedHead()
  for (const { lane, open } of busy) {
    const count = await relayer.node.countAt(lane.address, 'finalized')
    // The key was used by somebody else: the lane is looked at anew before it gives out a nonce.
    if (count > lane.nextNonce) relayer.memory.soundEpochs.delete(lane.address)
    const mined = open.filter(({ nonce }) => nonce < count)
    await inParallel(mined, askAtOnce, (transaction) => readOne(relayer, transaction, head))
  }
}

async function readOne(relayer: Relayer, transaction: OpenTransaction, head: Head): Promise<void> {
  const found = await finalReceipt(relayer.node, transaction.attempts, head).catch((error) => {
    complain(relayer, 'receipts', { err: error }, 'receipts could not be read')
    return undefined
  })
  if (found) return conclude(relayer, transaction, found.attempt, found.receipt)
  const { lane, nonce, createdAt } = transaction
  if (relayer.clock() - createdAt.getTime() < missingMs) return
  const fields = { lane, nonce, alarm: true }
  complain(relayer, `missing:${lane}:${nonce}`, fields, 'nonce is used but no receipt is found')
}

/**
 * The receipt of whichever attempt was mined. Final only when its block is at or below the finalized
 * one and still has the same hash when read anew: receipts of unfinalized blocks can vanish.
 */
export async function finalReceipt(
  node: Pick<Node, 'receiptOf' | 'headAt'>,
  attempts: readonly Attempt[],
  head: Head,
): Promise<{ attempt: Attempt; receipt: Receipt } | undefined> {
  for (const attempt of attempts.toReversed()) {
    const receipt = await node.receiptOf(attempt.hash)
    if (!receipt || receipt.blockNumber > head.number) continue
    const block = await node.headAt(receipt.blockNumber)
    if (block.hash === receipt.blockHash) return { attempt, receipt }
  }
  return undefined
}
