import type { Hex } from 'viem'
import { blocksIn } from '#shared/chain/blocks'
import type { PlaceOnChain } from './authorization'
import type { Head, Node } from './node'

/** Most blocks of a search. */
const blocksMax = blocksIn(9)

/**
 * Finds the transaction that used a nonce. A result of undefined proves nothing. Throws on endpoints without historical
 * state.
 */
export async function findNonceUse(
  node: Node,
  address: Hex,
  nonce: number,
  head: Head,
): Promise<PlaceOnChain | undefined> {
  const isUsedAt = async (blockNumber: bigint) => (await node.countAt(address, blockNumber)) > nonce
  let unused = head.number > blocksMax ? head.number - blocksMax : 0n
  let used = head.number
  if (!(await isUsedAt(used)) || (await isUsedAt(unused))) return undefined
  while (used - unused > 1n) {
    const middle = (used + unused) / 2n
    if (await isUsedAt(middle)) used = middle
    else unused = middle
  }
  const block = await node.reader.getBlock({ blockNumber: used, includeTransactions: true })
  const found = block.transactions.find(
    (one) => one.from.toLowerCase() === address.toLowerCase() && one.nonce === nonce,
  )
  return found && { txHash: found.hash, blockNumber: used, blockHash: block.hash }
}
