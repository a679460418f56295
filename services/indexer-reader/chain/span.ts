import type { Address, Hex } from 'viem'
import { batchMax } from '#shared/chain/batches'
import { type ChainEvent, decodeArgs, followedTopics } from '../event'
import { type Rpc, RpcFault, rpcBatch } from './rpc'

/**
 * Consecutive blocks read from one endpoint, with the hashes that link them to their neighbours.
 */
export type Span = {
  readonly from: number
  readonly to: number
  readonly parentHash: Hex
  readonly hash: Hex
  readonly atSeconds: number
  readonly events: readonly ChainEvent[]
  /** Finalized block of the endpoint at the time of the answer. */
  readonly finalized: number
}

type Header = { number: Hex; hash: Hex; parentHash: Hex; timestamp: Hex }
type RawLog = {
  address: string
  topics: string[]
  data: string
  blockNumber: Hex
  blockHash: Hex
  blockTimestamp?: Hex | null
  transactionHash: Hex
  logIndex: Hex
  removed?: boolean
}

const hex = (block: number) => `0x${block.toString(16)}`
const headerCall = (block: number | 'finalized') => ({
  method: 'eth_getBlockByNumber',
  params: [block === 'finalized' ? block : hex(block), false],
})
/** Returns the endpoint's newest finalized block number. */
export async function readFinalized(rpc: Rpc, deadlineMs: number): Promise<number> {
  const [header] = await rpcBatch(rpc, [headerCall('finalized')], deadlineMs)
  return numberOf(header as Header | null)
}

/**
 * Reads `from` to `to`. A node silently clamps `toBlock` to its own head, so the same batch reads
 * its finalized block and both end blocks. Throws `RpcFault` if it is not finalized that far, or if
 * its answer is inconsistent.
 */
export async function readSpan(
  endpoint: Rpc & { contract: Address },
  from: number,
  to: number,
  deadlineMs: number,
): Promise<Span> {
  const { contract } = endpoint
  const filter = {
    address: contract,
    topics: [followedTopics],
    fromBlock: hex(from),
    toBlock: hex(to),
  }
  const calls = [
    headerCall('finalized'),
    { method: 'eth_getLogs', params: [filter] },
    headerCall(from),
    headerCall(to),
  ]
  const [head, logs, first, last] = (await rpcBatch(endpoint, calls, deadlineMs)) as [
    Header | null,
    RawLog[],
    Header | null,
    Header | null,
  ]
  const finalized = numberOf(head)
  if (finalized < to || !first || !last) {
    throw new RpcFault('behind', `the endpoint is finalized to ${finalized}, not to ${to}`)
  }
  checkLogs(logs, contract, [first, last])
  const times = await blockTimes(endpoint, logs, [first, last], deadlineMs)
  const events = logs.flatMap((log) => eventOf(log, times) ?? [])
  return {
    from,
    to,
    parentHash: first.parentHash,
    hash: last.hash,
    atSeconds: Number(last.timestamp),
    events,
    finalized,
  }
}

function numberOf(header: Header | null): number {
  if (!header?.number) throw new RpcFault('broken', 'the endpoint has no finalized block')
  return Number(header.number)
}

function checkLogs(logs: unknown, contract: Address, [first, last]: [Header, Header]) {
  if (!Array.isArray(logs)) throw new RpcFault('broken', 'eth_getLogs returned no list')
  let before = { block: Number(first.number), index: -1 }
  for (const log of logs as RawLog[]) {
    const place = { block: Number(log.blockNumber), index: Number(log.logIndex) }
    const follows =
      place.block > before.block || (place.block === before.block && place.index > before.index)
    const edge = place.block === Number(first.number) ? first : last
    const fits =
      follows &&
      place.block <= Number(last.number) &&
      !log.removed &&
      log.address.toLowerCase() === contract &&
      (place.block !== Number(edge.number) || log.blockHash === edge.hash)
    if (!fits) throw new RpcFault('broken', `log at ${place.block}/${place.index} is out of order`)
    before = place
  }
}

/** Returns block times, from the logs or, for nodes that omit them there, from the headers. */
async function blockTimes(rpc: Rpc, logs: RawLog[], known: Header[], deadlineMs: number) {
  const times = new Map(known.map((header) => [Number(header.number), Number(header.timestamp)]))
  for (const log of logs) {
    if (log.blockTimestamp) times.set(Number(log.blockNumber), Number(log.blockTimestamp))
  }
  const missing = [...new Set(logs.map((log) => Number(log.blockNumber)))].filter(
    (block) => !times.has(block),
  )
  for (let start = 0; start < missing.length; start += batchMax) {
    const asked = missing.slice(start, start + batchMax)
    const headers = (await rpcBatch(rpc, asked.map(headerCall), deadlineMs)) as (Header | null)[]
    for (const [index, block] of asked.entries()) {
      const header = headers[index]
      if (!header) throw new RpcFault('behind', `the endpoint has no block ${block}`)
      times.set(block, Number(header.timestamp))
    }
  }
  return times
}

function eventOf(log: RawLog, times: ReadonlyMap<number, number>): ChainEvent | null {
  const decoded = decodeArgs(log.topics, log.data)
  if (!decoded) return null
  const blockNumber = Number(log.blockNumber)
  return {
    ...decoded,
    wallet: decoded.args.account as Address,
    blockNumber,
    logIndex: Number(log.logIndex),
    txHash: log.transactionHash,
    atSeconds: times.get(blockNumber)!,
  } as ChainEvent
}
