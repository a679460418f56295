import type { Hex } from 'viem'
import type { Place } from '../chain/authorization'
import type { Node, Receipt } from '../chain/node'

// What a mined transaction took from its lane. Monad charges the gas limit, and writes it into the
// receipt as the gas used; where a receipt does not say, the limit is what is counted.

/** Gas limit and fees of the transaction as it was signed, in wei per gas. */
type Bid = { readonly gas: bigint; readonly maxFeeWei: bigint; readonly priorityWei: bigint }

/** What formats a receipt makes null of a field that the endpoint left out. */
type Bare = { readonly gasUsed: bigint | null; readonly effectiveGasPrice: bigint | null }

/** What the lane paid for gas, in wei. */
export async function paidFor(node: Node, receipt: Receipt, bid: Bid): Promise<bigint> {
  const { gasUsed, effectiveGasPrice }: Bare = receipt
  const priceWei = effectiveGasPrice ?? (await priceOf(node, receipt, bid))
  return (gasUsed ?? bid.gas) * priceWei
}

async function priceOf({ reader }: Node, { blockNumber }: Receipt, bid: Bid): Promise<bigint> {
  const { baseFeePerGas } = await reader.getBlock({ blockNumber })
  const askedWei = (baseFeePerGas ?? 0n) + bid.priorityWei
  return askedWei < bid.maxFeeWei ? askedWei : bid.maxFeeWei
}

/**
 * What somebody else's transaction took from a lane: gas, and the value it sent elsewhere, in wei.
 * Undefined while the endpoint does not have its receipt.
 */
export async function costOf(
  node: Node,
  lane: Hex,
  { txHash: hash, blockHash }: Place,
): Promise<{ paidWei: bigint; valueWei: bigint } | undefined> {
  const receipt = await node.receiptOf(hash)
  if (receipt?.blockHash !== blockHash) return undefined
  const { gas, value, to, gasPrice, ...fees } = await node.reader.getTransaction({ hash })
  const maxFeeWei = fees.maxFeePerGas ?? gasPrice ?? 0n
  const priorityWei = fees.maxPriorityFeePerGas ?? maxFeeWei
  const paidWei = await paidFor(node, receipt, { gas, maxFeeWei, priorityWei })
  const isGone = receipt.status === 'success' && to?.toLowerCase() !== lane
  return { paidWei, valueWei: isGone ? value : 0n }
}
