import { type Address, encodeFunctionData, type Hex } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { isHash } from '#shared/chain/methods'
import { type Rpc, RpcFault, rpcBatch } from './rpc'

/** The finalized block, where `sequence` is the number of events emitted up to it. */
export type FinalizedHead = {
  readonly block: number
  readonly hash: Hex
  readonly atSeconds: number
  readonly sequence: number
}

/** The last block that was read; `blockHash` is null before the first one. */
export type KnownBlock = { readonly blockNumber: number; readonly blockHash: string | null }

export type Header = { number: Hex; hash: Hex; parentHash: Hex; timestamp: Hex }

export const hex = (block: number) => `0x${block.toString(16)}`

/** Parses a JSON-RPC quantity. Returns NaN unless it is one that a number holds exactly. */
export function quantityOf(value: unknown): number {
  const number = typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? number : Number.NaN
}

export const headerCall = (block: number | 'finalized') => ({
  method: 'eth_getBlockByNumber',
  params: [block === 'finalized' ? block : hex(block), false],
})

const sequenceData = encodeFunctionData({ abi: creditLineAbi, functionName: 'sequence' })

/**
 * Reads `sequence()` at the finalized block, which is recent enough for every node. Returns null if
 * that is still the `known` block; throws `RpcFault` if the known block is not on its chain.
 */
export async function readHead(
  endpoint: Rpc & { contract: Address },
  known: KnownBlock,
  deadlineMs: number,
): Promise<FinalizedHead | null> {
  const [answer] = await rpcBatch(endpoint, [headerCall('finalized')], deadlineMs)
  const header = answer as Header | null
  const [block, atSeconds] = [quantityOf(header?.number), quantityOf(header?.timestamp)]
  // Some nodes return 0 for a time that they lack.
  if (!header || !(block >= 0) || !(atSeconds > 0) || !isHash(header.hash))
    throw new RpcFault('broken', 'the endpoint has no finalized block')
  const { blockNumber, blockHash } = known
  if (block < blockNumber) {
    throw new RpcFault('behind', `the endpoint is finalized to ${block}, behind our block ${blockNumber}`)
  }
  if (block === blockNumber) {
    checkSame(known, header.hash)
    return null
  }
  const asked = blockHash !== null && block > blockNumber + 1
  const [sequence, ours] = await rpcBatch(
    endpoint,
    [
      {
        method: 'eth_call',
        params: [{ to: endpoint.contract, data: sequenceData }, hex(block)],
      },
      ...(asked ? [headerCall(blockNumber)] : []),
    ],
    deadlineMs,
  )
  checkSame(known, asked ? (ours as Header | null)?.hash : header.parentHash)
  if (!isHash(sequence)) {
    throw new RpcFault('broken', 'the endpoint does not know the sequence of the contract')
  }
  return {
    block,
    hash: header.hash,
    atSeconds,
    sequence: Number(sequence),
  }
}

/** Throws if a final block has another hash, which means another chain. */
function checkSame({ blockNumber, blockHash }: KnownBlock, hash: string | undefined): void {
  if (blockHash === null || hash === blockHash) return
  throw new RpcFault('broken', `the endpoint's chain does not continue our block ${blockNumber}`)
}
