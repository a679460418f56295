import { type Address, type Hex, numberToHex, type PublicClient, type RpcLog } from 'viem'
import type { BlockSpan } from '#shared/chain/halves'

export type LogFilter = {
  readonly address: Address
  /** For each place the topic, one of several, or null for any. */
  readonly topics: readonly (Hex | readonly Hex[] | null)[]
}

const same = (left: string, right: string) => left.toLowerCase() === right.toLowerCase()

/**
 * Reads the logs of some blocks in one call, each once and in chain order, whatever the node's order. They are filtered
 * again, because a node may ignore the filter. Throws viem's errors.
 */
export async function logsIn(
  reader: Pick<PublicClient, 'request'>,
  { address, topics }: LogFilter,
  { from, to }: BlockSpan,
): Promise<RpcLog[]> {
  const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) }
  const params = [{ address, topics: topics as Hex[], ...range }] as const
  const logs = (await reader.request({ method: 'eth_getLogs', params: [...params] })) as RpcLog[]
  const fits = (log: RpcLog) =>
    same(log.address, address) &&
    topics.every((wanted, at) => wanted === null || [wanted].flat().some((one) => same(one, log.topics[at] ?? '')))
  const byPlace = new Map(logs.filter(fits).map((log) => [`${log.blockNumber}:${log.logIndex}`, log]))
  return [...byPlace.values()].toSorted(
    (left, right) =>
      Number(left.blockNumber) - Number(right.blockNumber) || Number(left.logIndex) - Number(right.logIndex),
  )
}
