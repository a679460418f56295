import type { Hex } from 'viem'
import { blocksIn } from '#shared/chain/blocks'
import { isRefusal } from '#shared/chain/halves'
import type { PlaceOnChain } from './authorization'
import type { Head, Node } from './node'

/** Most blocks of a search. */
const blocksMax = blocksIn(9)

/**
 * Finds the transaction that used a nonce. A result of undefined proves nothing. Many endpoints keep only the newest
 * states: an older block, which they refuse to read, counts as one before the use.
 */
export async function findNonceUse(
  node: Node,
  address: Hex,
  nonce: number,
  head: Head,
): Promise<PlaceOnChain | undefined> {
  const isUsedAt = async (blockNumber: bigint) => (await node.countAt(address, blockNumber)) > nonce
  const isSeenUsedAt = (blockNumber: bigint) =>
    isUsedAt(blockNumber).catch((error) => {
      if (!isRefusal(error)) throw error
      return false
    })
  let unused = head.number > blocksMax ? head.number - blocksMax : 0n
  let used = head.number
  if (!(await isUsedAt(used)) || (await isSeenUsedAt(unused))) return undefined
  while (used - unused > 1n) {
    const middle = (used + unused) / 2n
    if (await isSeenUsedAt(middle)) used = middle
    else unused = middle
  }
  const block = await node.reader.getBlock({ blockNumber: used, includeTransactions: true })
  const found = block.transactions.find(
    (one) => one.from.toLowerCase() === address.toLowerCase() && one.nonce === nonce,
  )
  return found && { txHash: found.hash, blockNumber: used, blockHash: block.hash }
}
