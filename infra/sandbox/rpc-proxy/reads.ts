import type { Random } from '../random'
import type { RpcFaults } from './faults'
import { isAbove, type ProxyHeads, pin } from './heads'
import { type RpcAsk, type RpcReply, refuseTo, replyTo, toHex } from './rpc'

/** Position of the block tag among the parameters. */
const tagAt: ReadonlyMap<string, number> = new Map([
  ['eth_getBlockByNumber', 0],
  ['eth_getTransactionCount', 1],
  ['eth_getBalance', 1],
  ['eth_getCode', 1],
  ['eth_call', 1],
  ['eth_estimateGas', 1],
  ['eth_getStorageAt', 2],
])

export type RawLogFilter = { fromBlock?: unknown; toBlock?: unknown; blockHash?: unknown }

/** Number of reads so far, of receipts by hash and of logs by position. */
export type Reads = Map<string, number>

export function rewrite(
  ask: RpcAsk,
  faults: RpcFaults,
  heads: ProxyHeads | null,
): { ask: RpcAsk } | { reply: RpcReply } {
  if (ask.method === 'eth_getLogs') return rewriteLogs(ask, faults, heads)
  if (ask.method === 'eth_blockNumber' && heads) return { reply: replyTo(ask, toHex(heads.latest)) }
  const at = tagAt.get(ask.method)
  if (at === undefined) return { ask }
  const params = [...(ask.params ?? [])]
  if (params[at] === 'finalized' && faults.finalizedIsNull) return { reply: replyTo(ask, null) }
  if (params[at] === 'pending' && faults.pendingIsLatest) params[at] = 'latest'
  if (heads) params[at] = pin(params[at] ?? 'latest', heads)
  return { ask: { ...ask, params } }
}

function rewriteLogs(ask: RpcAsk, faults: RpcFaults, heads: ProxyHeads | null) {
  const filter = (ask.params?.[0] ?? {}) as RawLogFilter
  if (filter.blockHash !== undefined) return { ask }
  const from = heads ? pin(filter.fromBlock, heads) : filter.fromBlock
  let to = heads ? pin(filter.toBlock, heads) : filter.toBlock
  const wide = Number(to) - Number(from)
  if (faults.logsRangeMax > 0 && wide > faults.logsRangeMax) {
    const words = `eth_getLogs is limited to a ${faults.logsRangeMax} range`
    return { reply: refuseTo(ask, -32614, words) }
  }
  if (heads) {
    const seen = heads.latest - faults.logsClampBlocks
    // The range is above the node's own head, which only a lag of every head lowers.
    if (Number(from) > heads.latest) {
      return { reply: refuseTo(ask, -32602, 'Block requested not found') }
    }
    if (Number(from) > seen) return { reply: replyTo(ask, []) }
    if (Number(to) > seen) to = toHex(seen)
  }
  return { ask: { ...ask, params: [{ ...filter, fromBlock: from, toBlock: to }] } }
}

function isWide(ask: RpcAsk): boolean {
  const { fromBlock, toBlock } = (ask.params?.[0] ?? {}) as RawLogFilter
  return fromBlock !== undefined && fromBlock !== toBlock
}

export function distort(
  ask: RpcAsk,
  reply: RpcReply,
  faults: RpcFaults,
  parts: { heads: ProxyHeads | null; chance: Random; reads: Reads },
): RpcReply {
  const { heads, chance, reads } = parts
  if (reply.error || reply.result === null) return reply
  if (ask.method === 'eth_getLogs') {
    const found = reply.result as Log[]
    if (faults.logsResultsMax > 0 && found.length > faults.logsResultsMax && isWide(ask)) {
      const words = `query returned more than ${faults.logsResultsMax} results`
      return refuseTo(ask, -32005, words)
    }
    const logs = found.filter((log) => !isLate(log, faults, reads) && !chance.hits(faults.partialLogsRate))
    return replyTo(ask, logs)
  }
  if (heads && isAbove(reply, heads)) return replyTo(ask, null)
  if (ask.method === 'eth_getBlockByNumber' && ask.params?.[0] === '0x0' && faults.otherGenesis)
    return replyTo(ask, { ...(reply.result as object), hash: anotherHash })
  if (ask.method === 'eth_getTransactionReceipt') {
    if (isGone(String(ask.params?.[0]), faults, reads)) return replyTo(ask, null)
    if (!chance.hits(faults.discardedBlockRate)) return reply
    return replyTo(ask, { ...(reply.result as object), blockHash: anotherHash })
  }
  if (ask.method === 'eth_getBlockReceipts') {
    const receipts = reply.result as { transactionHash: string }[]
    const there = receipts.filter(({ transactionHash }) => !isGone(transactionHash, faults, reads))
    return replyTo(ask, there)
  }
  if (ask.method === 'eth_getTransactionByHash' && faults.hideUnincluded) {
    const { blockNumber } = reply.result as { blockNumber?: string | null }
    return blockNumber ? reply : replyTo(ask, null)
  }
  return reply
}

const anotherHash = `0x${'ab'.repeat(32)}`

/** Shows a receipt once, as of a proposed block, then hides it for some reads. */
function isGone(hash: string, faults: RpcFaults, reads: Reads): boolean {
  if (faults.vanishReceiptReads === 0) return false
  const seen = countRead(reads, hash)
  return seen > 0 && seen <= faults.vanishReceiptReads
}

type Log = { blockNumber: string; logIndex: string }

const isLate = (log: Log, faults: RpcFaults, reads: Reads): boolean =>
  faults.lateLogsReads > 0 && countRead(reads, `${log.blockNumber}/${log.logIndex}`) < faults.lateLogsReads

function countRead(reads: Reads, key: string): number {
  const before = reads.get(key) ?? 0
  reads.set(key, before + 1)
  return before
}
