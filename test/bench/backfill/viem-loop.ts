import { type AbiEvent, createPublicClient, http, toEventSelector } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { fields } from '../../../services/indexer-reader/config'
import { followedTopics } from '../../../services/indexer-reader/event'
import type { BenchChain } from '../chain/fill'

/** Blocks per `eth_getLogs` of every reader in this bench. */
export const logsRange = Number(fields.LOGS_RANGE_MAX.fallback)

const followed = (creditLineAbi as readonly { type: string }[])
  .filter((item): item is AbiEvent => item.type === 'event')
  .filter((event) => followedTopics.includes(toEventSelector(event)))

export type Loop = { readonly events: number; readonly eventsPerSecond: number }

/** Yardstick of a reader: a loop of viem calls that stores nothing. */
export async function viemLoop(chain: BenchChain): Promise<Loop> {
  const client = createPublicClient({ transport: http(chain.rpcUrl, { retryCount: 0 }) })
  const startedAt = performance.now()
  const { number: head } = await client.getBlock({ blockTag: 'finalized' })
  let events = 0
  for (let from = chain.deployment.deployBlock; from <= head; from += BigInt(logsRange)) {
    const last = from + BigInt(logsRange) - 1n
    const logs = await client.getLogs({
      address: chain.deployment.creditLine,
      events: followed,
      fromBlock: from,
      toBlock: last < head ? last : head,
      strict: true,
    })
    events += logs.length
  }
  return { events, eventsPerSecond: (1_000 * events) / (performance.now() - startedAt) }
}
