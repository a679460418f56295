import type { Hex } from 'viem'
import type { PlaceOnChain } from '../chain/authorization'
import type { ChainReceipt, Node } from '../chain/node'

// Monad charges the gas limit and reports it as `gasUsed`. The limit also stands in for a missing field.

/** Bid of an attempt, in wei per gas. */
type Bid = { readonly gas: bigint; readonly maxFeeWei: bigint; readonly priorityWei: bigint }

/** Receipt fields that an endpoint may omit. */
type Bare = { readonly gasUsed: bigint | null; readonly effectiveGasPrice: bigint | null }

export async function paidFor(node: Node, receipt: ChainReceipt, bid: Bid): Promise<bigint> {
  const { gasUsed, effectiveGasPrice }: Bare = receipt
  const priceWei = effectiveGasPrice ?? (await priceOf(node, receipt, bid))
  return (gasUsed ?? bid.gas) * priceWei
}

async function priceOf({ reader }: Node, { blockNumber }: ChainReceipt, bid: Bid): Promise<bigint> {
  const { baseFeePerGas } = await reader.getBlock({ blockNumber })
  const askedWei = (baseFeePerGas ?? 0n) + bid.priorityWei
  return askedWei < bid.maxFeeWei ? askedWei : bid.maxFeeWei
}

/** A transaction by the key of a lane: its content, and what it cost. */
export type Spent = {
  readonly to: Hex | null
  readonly data: Hex
  readonly sentWei: bigint
  readonly bid: Bid
  readonly cost: { readonly paidWei: bigint; readonly valueWei: bigint }
}

/** Reads a final transaction. Returns undefined while the endpoint lacks its receipt. */
export async function costOf(
  node: Node,
  lane: Hex,
  { txHash: hash, blockHash }: PlaceOnChain,
): Promise<Spent | undefined> {
  const receipt = await node.receiptOf(hash, async (found) => found.blockHash === blockHash)
  if (receipt?.blockHash !== blockHash) return undefined
  const { gas, value, to, input: data, gasPrice, ...fees } = await node.reader.getTransaction({ hash })
  const maxFeeWei = fees.maxFeePerGas ?? gasPrice ?? 0n
  const priorityWei = fees.maxPriorityFeePerGas ?? maxFeeWei
  const bid = { gas, maxFeeWei, priorityWei }
  const paidWei = await paidFor(node, receipt, bid)
  const isGone = receipt.status === 'success' && to?.toLowerCase() !== lane
  return { to, data, sentWei: value, bid, cost: { paidWei, valueWei: isGone ? value : 0n } }
}
