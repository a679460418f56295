import { type Address, createPublicClient, type Hex, http, numberToHex, type RpcLog } from 'viem'
import { readInHalves, type Span } from '#shared/chain/halves'
import { pause } from '#shared/deadline'

type LogTopics = readonly (Hex | readonly Hex[] | null)[]
export type LogFilter = { address: Address; topics: LogTopics }
export type { Span }

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

/** Reads one span in halves if it fails, and a single block several times. */
function readSpan(node: Node, filter: LogFilter, span: Span): Promise<RpcLog[]> {
  const read = async ({ from, to }: Span) => {
    const fields = { fromBlock: numberToHex(from), toBlock: numberToHex(to) }
    const params = [{ address: filter.address, topics: filter.topics as Hex[], ...fields }] as const
    return (await node.request({ method: 'eth_getLogs', params: [...params] })) as RpcLog[]
  }
  const readOne = async (block: bigint, error: unknown) => {
    let last = error
    for (let tries = 1; tries < triesMax; tries++) {
      await pause(200 * tries)
      const found = await read({ from: block, to: block }).catch((again) => {
        last = again
        return undefined
      })
      if (found) return found
    }
    throw last
  }
  return readInHalves(span, { read, readOne })
}

/** Reads the latest finalized block. */
export async function finalizedBlock(node: Node): Promise<bigint> {
  const { number } = await node.getBlock({ blockTag: 'finalized' })
  if (number === null) throw new Error('the node returned no finalized block')
  return number
}
