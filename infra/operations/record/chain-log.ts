import type { PublicClient, RpcLog } from 'viem'
import { within } from '#platform/deadline'
import { openChainReader } from '#shared/chain/client'
import { onlyOf, openRpcEndpoints, type RpcEndpoint } from '#shared/chain/endpoints'
import { type BlockSpan, isRefusal, readInHalves } from '#shared/chain/halves'
import { type LogFilter, logsIn } from '#shared/chain/logs'

/** Client of one endpoint. */
export type LogNode = PublicClient

const timeoutMs = 10_000
const headWithinMs = 3_000
const spansAtOnce = 8

/**
 * Runs a reading at the endpoint with the newest finalized block, and while it fails from its start at the next one. A
 * reading has one endpoint, because the blocks that another one knows may be others. `isLast` is true if no endpoint is
 * left. Throws the first error if it fails at every endpoint.
 */
export async function readAtAny<T>(
  rpcUrls: readonly string[],
  reading: (node: LogNode, isLast: boolean) => Promise<T>,
): Promise<T> {
  const endpoints = openRpcEndpoints({ rpcUrls })
  // Another endpoint is better than waiting for one that limits its calls.
  const open = (one: RpcEndpoint, waitsForRate: boolean): LogNode =>
    openChainReader({ endpoints: onlyOf(endpoints, one), timeoutMs, waitsForRate })
  const left = rpcUrls.length === 1 ? [...endpoints.all] : await newestFirst(endpoints.all, open)
  const errors: unknown[] = []
  for (let one = left.shift(); one; one = left.shift()) {
    const isLast = left.length === 0
    try {
      return await reading(open(one, isLast), isLast)
    } catch (error) {
      errors.push(error)
    }
  }
  throw errors[0]
}

/** Sorts endpoints by their finalized block. Those with the same one keep their order, and those without one are last. */
async function newestFirst(
  all: readonly RpcEndpoint[],
  open: (one: RpcEndpoint, waitsForRate: boolean) => LogNode,
): Promise<RpcEndpoint[]> {
  const headOf = async (one: RpcEndpoint) => {
    const asked = within(finalizedBlock(open(one, false)), headWithinMs, 'finalized block')
    return { one, head: await asked.catch(() => -1n) }
  }
  const heads = await Promise.all(all.map(headOf))
  return heads.toSorted((left, right) => Number(right.head - left.head)).map(({ one }) => one)
}

/**
 * Returns logs in chain order. Ranges begin with `rangeMax` blocks and halve when the endpoint refuses one. Throws if a
 * log cannot be read.
 */
export async function readLogs(
  node: LogNode,
  filter: LogFilter,
  { from, to }: BlockSpan,
  rangeMax: bigint,
): Promise<RpcLog[]> {
  const logs: RpcLog[] = []
  let range = rangeMax
  const mayHalve = (error: unknown, refused: BlockSpan) => {
    if (!isRefusal(error)) return false
    const width = refused.to - refused.from + 1n
    if (width > 1n && width <= range) range = width / 2n
    return true
  }
  const read = (span: BlockSpan) => logsIn(node, filter, span)
  let next = from
  while (next <= to) {
    const spans: BlockSpan[] = []
    for (; next <= to && spans.length < spansAtOnce; next += range) {
      const last = next + range - 1n
      spans.push({ from: next, to: last < to ? last : to })
    }
    const all = await Promise.all(spans.map((span) => readInHalves(span, { read, mayHalve })))
    logs.push(...all.flat())
  }
  return logs
}

export async function finalizedBlock(node: LogNode): Promise<bigint> {
  const { number } = await node.getBlock({ blockTag: 'finalized' })
  if (number === null) throw new Error('the node returned no finalized block')
  return number
}
