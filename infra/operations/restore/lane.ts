import type { Address, Hex } from 'viem'
import type { Place } from '#infra/operations/place'
import type { LogNode } from '#infra/operations/record/chain-log'
import { actionsOf, doneIn, type LaneAction } from './lane-actions'

export type LaneTransaction = {
  lane: Address
  nonce: number
  hash: Hex
  blockNumber: bigint
  blockHash: Hex
  to: Address
  data: Hex
  valueWei: bigint
  paidWei: bigint
  reverted: boolean
  actions: (LaneAction & { done: boolean })[] | undefined
}

/** Returns the last block at or before `seconds` (Unix time). */
export async function blockAt(node: LogNode, seconds: bigint, head: bigint): Promise<bigint> {
  let low = 0n
  let high = head
  while (low < high) {
    const middle = (low + high + 1n) / 2n
    const { timestamp } = await node.getBlock({ blockNumber: middle })
    if (timestamp <= seconds) low = middle
    else high = middle - 1n
  }
  return low
}

/**
 * Reads the transactions of a lane. `since` is a block before `fromNonce` was used. Throws unless there is exactly one
 * transaction for each nonce up to the chain's count.
 */
export async function readLane(
  node: LogNode,
  place: Place,
  { address, fromNonce }: { address: Address; fromNonce: number },
  span: { since: bigint; head: bigint },
): Promise<LaneTransaction[]> {
  const count = (blockNumber: bigint) => node.getTransactionCount({ address, blockNumber })
  const used = await count(span.head)
  if ((await node.getTransactionCount({ address })) !== used)
    throw new Error(`${address} has a transaction that is not final yet: try again shortly`)
  if (used <= fromNonce) return []
  const found: LaneTransaction[] = []
  for (const number of await blocksWith(count, fromNonce, used, span))
    found.push(...(await transactionsIn(node, place, address, fromNonce, number)))
  const nonces = found.map(({ nonce }) => nonce).join()
  const wanted = Array.from({ length: used - fromNonce }, (_, index) => fromNonce + index).join()
  if (nonces !== wanted)
    throw new Error(
      `${address} used the nonces ${wanted}, but only ${nonces || 'none'} were found: use an earlier --since`,
    )
  return found
}

type Counting = (blockNumber: bigint) => Promise<number>

/** Bisects for the blocks in which nonces were used. Returns every block if the node keeps no old state. */
async function blocksWith(
  count: Counting,
  fromNonce: number,
  used: number,
  { since, head }: { since: bigint; head: bigint },
): Promise<bigint[]> {
  const within = async (low: bigint, lowCount: number, high: bigint, highCount: number) => {
    if (highCount <= fromNonce || highCount === lowCount) return []
    if (high - low === 1n) return [high]
    const middle = (low + high) / 2n
    const middleCount = await count(middle)
    const halves: bigint[][] = [
      await within(low, lowCount, middle, middleCount),
      await within(middle, middleCount, high, highCount),
    ]
    return halves.flat()
  }
  const before = await count(since).catch(() => undefined)
  if (before !== undefined) return within(since, before, head, used)
  return Array.from({ length: Number(head - since) }, (_, index) => since + BigInt(index + 1))
}

async function transactionsIn(
  node: LogNode,
  place: Place,
  lane: Address,
  fromNonce: number,
  blockNumber: bigint,
): Promise<LaneTransaction[]> {
  const block = await node.getBlock({ blockNumber, includeTransactions: true })
  const own = block.transactions
    .filter(({ from, nonce }) => from.toLowerCase() === lane && nonce >= fromNonce)
    .sort((left, right) => left.nonce - right.nonce)
  return Promise.all(
    own.map(async ({ nonce, hash, to, input: data, value: valueWei, from, ...bid }) => {
      const receipt = await node.getTransactionReceipt({ hash })
      const reverted = receipt.status !== 'success'
      const actions = to ? actionsOf({ from, to, data, valueWei }, place) : undefined
      // Only the logs show which operations of a batch took effect.
      if (!reverted && receipt.logs.length === 0 && actions?.some((action) => 'ref' in action))
        throw new Error(`the node returned the receipt of ${hash} without logs`)
      const done = doneIn(actions ?? [], { to, reverted, logs: receipt.logs }, place)
      return {
        lane,
        nonce,
        hash,
        blockNumber,
        blockHash: block.hash,
        data,
        valueWei,
        reverted,
        // If the receipt has no gas used, the gas limit is booked, because Monad charges it.
        paidWei: (receipt.gasUsed ?? bid.gas) * (receipt.effectiveGasPrice ?? bid.gasPrice),
        to: (to ?? lane).toLowerCase() as Address,
        actions: actions?.map((action, position) => ({ ...action, done: done[position]! })),
      }
    }),
  )
}
