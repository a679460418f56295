import { type Address, createPublicClient, type Hex, http, numberToHex, type RpcLog } from 'viem'
import { pause } from '#platform/deadline'

type LogTopics = readonly (Hex | readonly Hex[] | null)[]
export type LogFilter = { address: Address; topics: LogTopics }
export type BlockRange = { from: bigint; to: bigint }

const timeoutMs = 10_000
const spansAtOnce = 8
const triesMax = 5

/** Opens a client of the chain that is independent of the services' client. */
export const openNode = (rpcUrl: string) =>
  createPublicClient({
    transport: http(rpcUrl, { retryCount: 0, timeout: timeoutMs }),
    cacheTime: 0,
  })
export type LogNode = ReturnType<typeof openNode>

/**
 * Returns logs in chain order. Ranges begin with `rangeMax` blocks and halve when the endpoint refuses one. Throws if a
 * log cannot be read.
 */
export async function readLogs(
  node: LogNode,
  filter: LogFilter,
  { from, to }: BlockRange,
  rangeMax: bigint,
): Promise<RpcLog[]> {
  const logs: RpcLog[] = []
  let range = rangeMax
  const learn = (refused: bigint) => {
    if (refused > 1n && refused <= range) range = refused / 2n
  }
  let next = from
  while (next <= to) {
    const spans: BlockRange[] = []
    for (; next <= to && spans.length < spansAtOnce; next += range) {
      const last = next + range - 1n
      spans.push({ from: next, to: last < to ? last : to })
    }
    const read = spans.map((span) => readSpan(node, filter, span, learn))
    logs.push(...(await Promise.all(read)).flat())
  }
  return logs
}

/** Reads a range. Retries a failed range in halves, because it may be too wide, and a single block several times. */
async function readSpan(
  node: LogNode,
  filter: LogFilter,
  span: BlockRange,
  learn: (refused: bigint) => void,
  tries = 1,
): Promise<RpcLog[]> {
  try {
    const fields = { fromBlock: numberToHex(span.from), toBlock: numberToHex(span.to) }
    const topics = filter.topics as Hex[]
    const params = [{ address: filter.address, topics, ...fields }] as const
    return (await node.request({ method: 'eth_getLogs', params: [...params] })) as RpcLog[]
  } catch (error) {
    if (span.from === span.to) {
      if (tries === triesMax) throw error
      await pause(200 * tries)
      return readSpan(node, filter, span, learn, tries + 1)
    }
    // A lost connection does not show that the range is too wide.
    if (typeof (error as { code?: unknown }).code === 'number') learn(span.to - span.from + 1n)
    const middle = (span.from + span.to) / 2n
    return [
      ...(await readSpan(node, filter, { from: span.from, to: middle }, learn)),
      ...(await readSpan(node, filter, { from: middle + 1n, to: span.to }, learn)),
    ]
  }
}

export async function finalizedBlock(node: LogNode): Promise<bigint> {
  const { number } = await node.getBlock({ blockTag: 'finalized' })
  if (number === null) throw new Error('the node returned no finalized block')
  return number
}
