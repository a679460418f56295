import { type Address, createPublicClient, type Hex, http, numberToHex, type RpcLog } from 'viem'
import { pause } from '#shared/deadline'

type LogTopics = readonly (Hex | readonly Hex[] | null)[]
export type LogFilter = { address: Address; topics: LogTopics }
export type Span = { from: bigint; to: bigint }

const timeoutMs = 10_000
const spansAtOnce = 8
const triesMax = 5

/** Opens a node without the services' client. */
export const openNode = (rpcUrl: string) =>
  createPublicClient({
    transport: http(rpcUrl, { retryCount: 0, timeout: timeoutMs }),
    cacheTime: 0,
  })
export type Node = ReturnType<typeof openNode>

/**
 * Reads every log of the filter from `from` to `to`, in chain order. Throws if a log is missing.
 */
export async function readLogs(
  node: Node,
  filter: LogFilter,
  { from, to }: Span,
  rangeMax: bigint,
): Promise<RpcLog[]> {
  const logs: RpcLog[] = []
  let next = from
  while (next <= to) {
    const spans: Span[] = []
    for (; next <= to && spans.length < spansAtOnce; next += rangeMax) {
      const last = next + rangeMax - 1n
      spans.push({ from: next, to: last < to ? last : to })
    }
    logs.push(...(await Promise.all(spans.map((span) => readSpan(node, filter, span)))).flat())
  }
  return logs
}

/**
 * Retries a failed range in halves, and a single block several times: the range may be too wide.
 */
async function readSpan(node: Node, filter: LogFilter, span: Span, tries = 1): Promise<RpcLog[]> {
  try {
    const fields = { fromBlock: numberToHex(span.from), toBlock: numberToHex(span.to) }
    const topics = filter.topics as Hex[]
    const params = [{ address: filter.address, topics, ...fields }] as const
    return (await node.request({ method: 'eth_getLogs', params: [...params] })) as RpcLog[]
  } catch (error) {
    if (span.from === span.to) {
      if (tries === triesMax) throw error
      await pause(200 * tries)
      return readSpan(node, filter, span, tries + 1)
    }
    const middle = (span.from + span.to) / 2n
    return [
      ...(await readSpan(node, filter, { from: span.from, to: middle })),
      ...(await readSpan(node, filter, { from: middle + 1n, to: span.to })),
    ]
  }
}

/** Reads the latest finalized block. */
export async function finalizedBlock(node: Node): Promise<bigint> {
  const { number } = await node.getBlock({ blockTag: 'finalized' })
  if (number === null) throw new Error('the node returned no finalized block')
  return number
}
