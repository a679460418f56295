import { type Hex, multicall3Abi } from 'viem'
import type { Clock } from '#shared/clock'
import { multicall3, multicallAbi } from './multicall'
import type { Head, Node } from './node'

/**
 * What one look at the chain shows: all that rounds need to know of it but for their own receipts.
 */
export type Look = {
  /** Unix milliseconds. */
  readonly at: number
  readonly newest: Pick<Head, 'number' | 'timestamp'>
  readonly finalized: Head
  /** Native coin of the lanes at the newest block, in wei; by their lower-case addresses. */
  readonly balancesWei: ReadonlyMap<Hex, bigint>
}

type Looking = {
  readonly node: Node
  readonly clock: Clock
  readonly memory: { look: Look | undefined }
  readonly settings: { readonly pollMs: number }
}

/**
 * Looks at the chain, by two calls, and once in `POLL_MS` however often rounds are poked. Only what
 * a look calls final is concluded before the next one, so no transaction of a lane is missing both
 * from its balance and from what it has open.
 */
export async function lookAt(
  { node, clock, memory, settings }: Looking,
  lanes: readonly Hex[],
): Promise<Look> {
  const last = memory.look
  const isKnown = last && lanes.every((lane) => last.balancesWei.has(lane))
  if (isKnown && isRecent(last.at, clock(), settings.pollMs)) return last
  const at = clock()
  const [finalized, newest] = await Promise.all([node.finalizedHead(), readNewest(node, lanes)])
  memory.look = { at, finalized, ...newest }
  return memory.look
}

/** Whether it is less than so long ago. A clock that was put back says nothing. */
export const isRecent = (at: number, now: number, withinMs: number): boolean =>
  at <= now && now - at < withinMs

/** The newest block by what Multicall3 says of it, and the balances in it: by one call. */
async function readNewest({ reader }: Node, lanes: readonly Hex[]) {
  const there = { address: multicall3, abi: multicallAbi } as const
  const clock = { address: multicall3, abi: multicall3Abi } as const
  const [number, timestamp, ...balances] = await Promise.all([
    reader.readContract({ ...there, functionName: 'getBlockNumber' }),
    reader.readContract({ ...clock, functionName: 'getCurrentBlockTimestamp' }),
    ...lanes.map((lane) =>
      reader.readContract({ ...there, functionName: 'getEthBalance', args: [lane] }),
    ),
  ])
  const balancesWei = new Map(lanes.map((lane, place) => [lane, balances[place]!]))
  return { newest: { number, timestamp }, balancesWei }
}
