import type { Address, Hex } from 'viem'
import { batchMax } from '#shared/chain/batches'
import { isHash } from '#shared/chain/methods'
import { type ChainEvent, decodeArgs, followedTopics } from '../event'
import { type FinalizedHead, type Header, headerCall, hex, quantityOf } from './head'
import { type Rpc, RpcFault, rpcBatch } from './rpc'

export type LogSpan = {
  readonly from: number
  readonly to: number
  readonly events: readonly ChainEvent[]
}

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

/**
 * Reads the events of some blocks. A node may silently omit logs or clamp `toBlock` to its own head, which the caller
 * notices by the sequence.
 */
export async function readSpan(
  endpoint: Rpc & { contract: Address },
  { from, to, head }: { from: number; to: number; head: FinalizedHead },
  deadlineMs: number,
): Promise<LogSpan> {
  const { contract } = endpoint
  const filter = {
    address: contract,
    topics: [followedTopics],
    fromBlock: hex(from),
    toBlock: hex(to),
  }
  const [answer] = await rpcBatch(endpoint, [{ method: 'eth_getLogs', params: [filter] }], deadlineMs)
  const logs = checkedLogs(answer, contract, { from, to, head })
  const times = await blockTimes(endpoint, logs, head, deadlineMs)
  return { from, to, events: logs.flatMap((log) => eventOf(log, times) ?? []) }
}

function checkedLogs(
  logs: unknown,
  contract: Address,
  { from, to, head }: { from: number; to: number; head: FinalizedHead },
): RawLog[] {
  if (!Array.isArray(logs)) throw new RpcFault('broken', 'eth_getLogs returned no list')
  let before = { block: from, index: -1 }
  const places = (logs as RawLog[]).map((log) => ({
    log,
    block: quantityOf(log.blockNumber),
    index: quantityOf(log.logIndex),
  }))
  // Some nodes return the newest first, or each log twice.
  places.sort((one, two) => one.block - two.block || one.index - two.index)
  const once = places.filter(({ log }, at) => at === 0 || !Bun.deepEquals(log, places[at - 1]!.log))
  for (const { log, ...place } of once) {
    const follows = place.block > before.block || (place.block === before.block && place.index > before.index)
    const fits =
      follows &&
      place.block <= to &&
      !log.removed &&
      isHash(log.transactionHash) &&
      log.address.toLowerCase() === contract &&
      (place.block !== head.block || log.blockHash === head.hash)
    if (!fits) throw new RpcFault('broken', `log at ${place.block}/${place.index} is out of order`)
    before = place
  }
  return once.map(({ log }) => log)
}

/** Reads the times of blocks from their headers where a node omits them in logs. */
async function blockTimes(rpc: Rpc, logs: RawLog[], head: FinalizedHead, deadlineMs: number) {
  const times = new Map([[head.block, head.atSeconds]])
  /** Records a time. One that its block cannot have counts as missing. */
  const record = (block: number, timestamp: unknown) => {
    const atSeconds = quantityOf(timestamp)
    if (atSeconds > 0 && atSeconds <= head.atSeconds) times.set(block, atSeconds)
  }
  for (const log of logs) record(Number(log.blockNumber), log.blockTimestamp)
  const missing = [...new Set(logs.map((log) => Number(log.blockNumber)))].filter((block) => !times.has(block))
  for (let start = 0; start < missing.length; start += batchMax) {
    const asked = missing.slice(start, start + batchMax)
    const headers = (await rpcBatch(rpc, asked.map(headerCall), deadlineMs)) as (Header | null)[]
    for (const [index, block] of asked.entries()) {
      const header = headers[index]
      if (!header) throw new RpcFault('behind', `the endpoint has no block ${block}`)
      if (quantityOf(header.number) === block) record(block, header.timestamp)
      if (!times.has(block)) throw new RpcFault('broken', `the endpoint has no time of block ${block}`)
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
    wallet: 'account' in decoded.args ? (decoded.args.account as Address) : null,
    blockNumber,
    logIndex: Number(log.logIndex),
    txHash: log.transactionHash,
    atSeconds: times.get(blockNumber)!,
  } as ChainEvent
}
